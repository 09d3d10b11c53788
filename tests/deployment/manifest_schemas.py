#!/usr/bin/env python3
"""Checks deploy/kubernetes/nustream.yaml by the schemas of Kubernetes' resources: those of the oldest version that the
chart is for, and those of the newest that the Python package kubernetes-validate has. tests/deployment/helm.py does so for
values of every kind, with programs that have to be built first; this needs pip alone.

Usage: manifest_schemas.py ROOT
"""
import sys
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).parent))
import packages  # noqa: E402

OLDEST = "1.28"
CUSTOM = {"ServiceMonitor", "PrometheusRule"}  # of Prometheus' operator, not of Kubernetes; helm.py looks at those


def mistakes(validate, documents, version):
    """What the schemas of that version, strict about members that they do not know, have against the documents."""
    for document in documents:
        try:
            validate.validate(document, version, strict=True)
        except (validate.ValidationError, validate.SchemaNotFoundError) as error:
            yield f"{document['kind']} {document['metadata']['name']}: {getattr(error, 'message', error)}"


def main(root):
    sys.path.insert(0, str(packages.pip(packages.KUBERNETES)))
    import kubernetes_validate as validate

    text = (root / "deploy/kubernetes/nustream.yaml").read_text()
    documents = [document for document in yaml.safe_load_all(text) if document["kind"] not in CUSTOM]
    versions = [OLDEST, validate.latest_version()]
    for version in versions:
        for mistake in mistakes(validate, documents, version):
            sys.exit(f"deploy/kubernetes/nustream.yaml: not for Kubernetes {version}: {mistake}")
        wrong = yaml.safe_load_all(text.replace("readOnlyRootFilesystem", "readOnlyRoot"))
        if not any(mistakes(validate, (one for one in wrong if one["kind"] == "StatefulSet"), version)):
            sys.exit(f"a wrong name would not be noticed by the schemas of {version}")
    print(f"{len(documents)} manifests are of Kubernetes {' and '.join(versions)}")


main(Path(sys.argv[1]).resolve())
