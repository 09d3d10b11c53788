"""Usage: benchmarks/compare; see there."""

import argparse
import json
import os
import platform
import sys
import tempfile
from pathlib import Path

from . import accuracy, fits, noise_cost, peers, replay, report, step_loop
from .product import Product

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/benchmarks.md"
BEGIN, END = "<!-- compare: begin -->\n", "<!-- compare: end -->\n"

FULL = {"rounds": 7, "rows": 1_000_000, "loop_steps": 200_000, "noise_samples": 400_000, "steps": 15_000, "seeds": 12}
QUICK = {"rounds": 1, "rows": 5_000, "loop_steps": 2_000, "noise_samples": 4_000, "steps": 600, "seeds": 2}


def arguments():
    parser = argparse.ArgumentParser(prog="benchmarks/compare")
    parser.add_argument("--quick", action="store_true", help="tiny counts, no network: does it run?")
    parser.add_argument("--rounds", type=int, help="of the speed comparisons")
    parser.add_argument("--seeds", type=int, help="of the accuracy comparison")
    parser.add_argument("--out", type=Path, help="folder for compare.json, compare.md and the charts")
    parser.add_argument("--build", type=Path, default=ROOT / "build/test", help="folder of nustream and the benchmarks")
    parser.add_argument("--core", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--only-arguments", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def compare(options, settings, folder):
    product = Product(options.build)
    found = peers.find()
    fitted = {}
    # Without network and in seconds: an optimisation of minutes is left out unless it is there already.
    cache = ROOT / "build/compare"
    if peers.here(found, "jax-privacy") and not options.quick:
        print("fitting jax-privacy's strategies (minutes, the first time)", file=sys.stderr, flush=True)
        fitted = fits.fit(found, settings["steps"], cache)
    sections = replay.section(product, found, folder, settings)
    print("replay done", file=sys.stderr, flush=True)
    sections += step_loop.section(product, found, folder, settings, fitted)
    print("step loop done", file=sys.stderr, flush=True)
    sections += noise_cost.section(product, found, folder, settings, fitted)
    print("noise done", file=sys.stderr, flush=True)
    results = accuracy.section(product, ROOT, folder, settings, fitted)
    cpu, compiler = product.compiler(folder)
    machine = {"cpu": cpu, "cpus": os.cpu_count(), "core": options.core, "compiler": f"gcc {compiler}",
               "python": platform.python_version()}
    return {"benchmark": "compare", "machine": machine, "peers": found, "settings": settings, "sections": sections,
            "accuracy": results,
            "strategies": {name: {"call": fit["call"], "sensitivity": fit["sensitivity"]}
                           for name, fit in fitted.items()}}


def write(result, out):
    """Into `out`, or into docs/ where there is none."""
    results = out or ROOT / "docs/results"
    results.mkdir(parents=True, exist_ok=True)
    (results / "compare.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    report.charts(result, results)
    if out:
        (out / "compare.md").write_text(report.page(result, ""))
        return
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(before + BEGIN + report.page(result, "results/") + END + after)


def main():
    options = arguments()
    if options.only_arguments:
        return
    settings = dict(QUICK if options.quick else FULL)
    for name in ("rounds", "seeds"):
        if getattr(options, name) is not None:
            settings[name] = getattr(options, name)
    if options.quick and options.out is None:
        options.out = ROOT / "build/compare/quick"
    with tempfile.TemporaryDirectory(prefix="nustream-compare-", dir="/dev/shm") as folder:
        result = compare(options, settings, Path(folder))
    write(result, options.out)


main()
