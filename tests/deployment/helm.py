#!/usr/bin/env python3
"""Checks the chart. helm has to find nothing wrong with it, and deploy/kubernetes/nustream.yaml has to be what it makes.
What it makes under several values has to be valid for kubeconform, by the schemas of several versions of Kubernetes, and
for the types of the Prometheus operator.

Usage: helm.py ROOT          checks, as in the tests
       helm.py ROOT --write  writes deploy/kubernetes/nustream.yaml
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

sys.dont_write_bytecode = True

import packages  # noqa: E402
import typescript  # noqa: E402

CHART = "deploy/helm/nustream"
MANIFESTS = Path("deploy/kubernetes/nustream.yaml")
HEADER = """# Made of deploy/helm/nustream by tests/deployment/helm.py --write; to be changed there.
"""
VERSIONS = ["1.28.0", "1.31.0", "1.37.0"]
VALUES = [
    {"image": {"digest": "sha256:" + 64 * "0"}, "imagePullSecrets": [{"name": "registry"}]},
    {"networkPolicy": {"publicFrom": [{"podSelector": {}}], "brokerPorts": [9092, 9093],
                       "brokersTo": [{"ipBlock": {"cidr": "198.51.100.0/24"}}],
                       "extraEgress": [{"ports": [{"port": 443, "protocol": "TCP"}]}]}},
    {"podDisruptionBudget": {"enabled": False}, "networkPolicy": {"enabled": False}, "monitoring": {"enabled": False}},
    {"extraArgs": ["-X", "security.protocol=ssl"], "nodeSelector": {"zone": "a"},
     "extraVolumes": [{"name": "ca", "configMap": {"name": "ca"}}],
     "extraVolumeMounts": [{"name": "ca", "mountPath": "/etc/ca", "readOnly": True}],
     "tolerations": [{"key": "x", "operator": "Exists"}], "affinity": {"podAntiAffinity": {}}},
    {"monitoring": {"labels": {"release": "prometheus"}, "rules": False}},
]
REFUSED = [{"replicas": 0}, {"networkPolicy": {"operatorFrom": []}}, {"networkPolicy": {"operatorFrom": [{}]}},
           {"image": {"digest": "latest"}}, {"replica": 2}]


def helm(*words, stdin=""):
    command = [str(packages.go_program(packages.HELM)), *words]
    return subprocess.run(command, input=stdin, capture_output=True, text=True)


def template(values):
    values = {"monitoring": {"enabled": True}} | values
    return helm("template", "nustream", CHART, "--kube-version", VERSIONS[-1], "--namespace", "nustream", "--values", "-", stdin=json.dumps(values))


def made(values):
    result = template(values)
    if result.returncode:
        sys.exit(f"{values}: {result.stderr}")
    return result.stdout


def kubeconform(manifests, version, schemas):
    location = f"{schemas}/v{version}-local{{{{.StrictSuffix}}}}/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json"
    command = [str(packages.go_program(packages.KUBECONFORM)), "-strict", "-kubernetes-version", version,
               "-schema-location", location, "-skip", "ServiceMonitor,PrometheusRule", "-summary"]
    return subprocess.run(command, input=manifests, capture_output=True, text=True)


def of_the_operator(manifests):
    """TypeScript that compiles only if the Prometheus operator knows every key of its resources."""
    documents = [document for document in yaml.safe_load_all(manifests)
                 if document and document["kind"] in ("ServiceMonitor", "PrometheusRule")]
    lines = [f"import type {{ I{kind} }} from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/{kind}';"
             for kind in ("ServiceMonitor", "PrometheusRule")]
    return lines + [f"{{ const resource: I{document['kind']} = {json.dumps(document)}; }}" for document in documents]


def compiled(manifests):
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(packages.npm(packages.OPERATOR), Path(folder, "node_modules"))
        return typescript.said(Path(folder), of_the_operator(manifests))


def main():
    default = made({})
    text = HEADER + default
    if sys.argv[2:] == ["--write"]:
        MANIFESTS.write_text(text)
    elif MANIFESTS.read_text() != text:
        sys.exit(f"{MANIFESTS} is not what the chart makes: helm.py --write")
    linted = helm("lint", "--strict", "--kube-version", VERSIONS[-1], CHART)
    if linted.returncode or "[WARNING]" in linted.stdout:
        sys.exit(linted.stdout + linted.stderr)
    schemas = packages.kubernetes_schemas()
    for values in [{}, *VALUES]:
        manifests = made(values)
        for version in VERSIONS:
            result = kubeconform(manifests, version, schemas)
            if result.returncode:
                sys.exit(f"{values}, Kubernetes {version}: {result.stdout}{result.stderr}")
        if said := compiled(manifests):
            sys.exit(f"{values}: {said}")
    for values in REFUSED:
        if template(values).returncode == 0:
            sys.exit(f"the chart takes {values}")
    # The checks have to fail for a wrong key.
    if kubeconform(default.replace("readOnlyRootFilesystem", "readOnlyRoot"), VERSIONS[0], schemas).returncode == 0:
        sys.exit("kubeconform takes an unknown key")
    if not compiled(default.replace("targetLabel: job", "target: job")):
        sys.exit("the operator's types take an unknown key")
    print(f"{len(list(yaml.safe_load_all(default)))} manifests of Kubernetes {', '.join(VERSIONS)}")


os.chdir(sys.argv[1])
main()
