"""Finds out which peers are installed, by importing each. A peer that cannot be imported is skipped with one line."""

import importlib
import importlib.metadata
import os
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")

MODULES = {"numpy": "numpy", "scikit-learn": "sklearn", "river": "river", "vowpalwabbit": "vowpalwabbit",
           "jax-privacy": "jax_privacy"}


OF_TABLES = {"numpy": "numpy", "dp-accounting": "dp_accounting"}
OF_ESTIMATORS = {"numpy": "numpy", "jax-privacy": "jax_privacy"}
OF_CURVATURE = {"numpy": "numpy"}
OF_IMAGES = {**OF_TABLES, "scikit-learn": "sklearn"}


def find(modules=MODULES):
    """{peer: {"version": …} or {"skipped": reason}}"""
    found = {}
    for package, module in modules.items():
        try:
            importlib.import_module(module)
            found[package] = {"version": importlib.metadata.version(package)}
        except Exception as error:  # a broken installation counts as none
            found[package] = {"skipped": str(error).splitlines()[0] if str(error) else type(error).__name__}
            print(f"skipped: {package}: {found[package]['skipped']}", file=sys.stderr)
    return found


def here(found, package):
    return "version" in found[package]
