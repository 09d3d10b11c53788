"""The main program. benchmarks/compare starts it and says how it is used."""

import argparse
import os
import platform
import sys
import tempfile
from pathlib import Path

from . import accuracy, clicks, estimators, fit_tables, fits, glm_curvature, images, noise_cost, page, peers, replay
from . import step_loop, tables
from .product import Product

# *_values are the coordinates of one timing in memory. The number of its steps follows from them.
FULL = {"rounds": 11, "rows": 1_000_000, "loop_values": 1 << 20, "noise_values": 1 << 20, "steps": 15_000, "seeds": 12}
QUICK = {"rounds": 1, "rows": 5_000, "loop_values": 1 << 16, "noise_values": 1 << 14, "steps": 600, "seeds": 2}


def arguments():
    parser = argparse.ArgumentParser(prog="benchmarks/compare")
    parser.add_argument("--quick", action="store_true", help="tiny counts, no network: does it run?")
    parser.add_argument("--tables", action="store_true", help="tables beside DP-SGD, and nothing else")
    parser.add_argument("--images", action="store_true", help="a multinomial model of digits, and nothing else")
    parser.add_argument("--clicks", action="store_true", help="a model of users' words, and nothing else")
    parser.add_argument("--estimators", action="store_true", help="estimators of a linear model, and nothing else")
    parser.add_argument("--curvature", action="store_true", help="GLMs by private curvature, and nothing else")
    parser.add_argument("--fits", action="store_true", help="`nustream fit` on public tables beside grids, and nothing else")
    parser.add_argument("--data", type=Path, help="folder of Card's and Angrist and Evans' tables, for --estimators and --fits")
    parser.add_argument("--only-kept", action="store_true", help="of --estimators: what earlier runs measured, and nothing else")
    parser.add_argument("--points", type=int, help="of the synthetic grid of --estimators (24)")
    parser.add_argument("--rounds", type=int, help="rounds of the speed comparisons")
    parser.add_argument("--seeds", type=int, help="seeds of the accuracy comparison")
    parser.add_argument("--out", type=Path, help="folder for compare.json, compare.md and the charts")
    parser.add_argument("--build", type=Path, default=page.ROOT / "build/test", help="folder of nustream and the benchmarks")
    parser.add_argument("--core", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--only-arguments", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def compare(options, found, settings, folder):
    product = Product(options.build)
    fitted = {}
    # --quick has no network and takes seconds, so it leaves out an optimisation that takes minutes unless its result is
    # there already.
    cache = page.ROOT / "build/compare"
    if peers.here(found, "jax-privacy") and not options.quick:
        print("fitting jax-privacy's strategies (minutes, the first time)", file=sys.stderr, flush=True)
        fitted = fits.fit(found, settings["steps"], cache)
    sections = replay.section(product, found, folder, settings)
    print("replay done", file=sys.stderr, flush=True)
    sections += step_loop.section(product, found, folder, settings, fitted)
    print("step loop done", file=sys.stderr, flush=True)
    sections += noise_cost.section(product, found, folder, settings, fitted)
    print("noise done", file=sys.stderr, flush=True)
    results = accuracy.section(product, page.ROOT, folder, settings, fitted)
    cpu, compiler = product.compiler(folder)
    machine = {"cpu": cpu, "cpus": os.cpu_count(), "core": options.core, "compiler": f"gcc {compiler}",
               "python": platform.python_version()}
    return {"benchmark": "compare", "machine": machine, "peers": found, "settings": settings, "sections": sections,
            "accuracy": results,
            "strategies": {name: {"call": fit["call"], "sensitivity": fit["sensitivity"]}
                           for name, fit in fitted.items()}}


def compare_part(options, part, peers_of_it):
    """Compares tables, images and so on, and writes compare_NAME.json and its part of the page."""
    settings = dict(part.QUICK if options.quick else part.FULL)
    if options.seeds is not None:
        settings["seeds"] = options.seeds
    if part is estimators:
        settings["data"], settings["only_kept"] = options.data, options.only_kept
        settings["points"] = settings["points"] if options.points is None else options.points
    found = peers.find(peers_of_it)
    if part is estimators and options.data is None:
        found["tables of --data"] = {"skipped": "not given"}
    if part is fit_tables:
        settings["paths"], missing = fit_tables.find(options.data, options.quick)
        found.update(missing)
    out = page.folder_of(options.out, options.quick, found)
    with tempfile.TemporaryDirectory(prefix="nustream-compare-", dir="/dev/shm") as folder:
        result = part.compare(Product(options.build, ()), Path(folder), settings, found)
    page.write_part(part, result, out, options.build / "benchmarks/draw_chart")
    said = []
    if out != page.RESULTS and options.out is None and not options.quick:
        said.append(f"results go to {out}, docs/benchmarks.md stays as it is: {', '.join(page.lacking(found))} not here")
    if part is fit_tables and not options.quick and fit_tables.missed(result):
        said.append(f"bars are missed: {'; '.join(fit_tables.missed(result))}")
    if said:
        sys.exit("\n".join(said))


def main():
    options = arguments()
    if options.only_arguments:
        return
    if options.tables:
        return compare_part(options, tables, peers.OF_TABLES)
    if options.images:
        return compare_part(options, images, peers.OF_IMAGES)
    if options.clicks:
        return compare_part(options, clicks, peers.OF_TABLES)
    if options.estimators:
        return compare_part(options, estimators, peers.OF_ESTIMATORS)
    if options.curvature:
        return compare_part(options, glm_curvature, peers.OF_CURVATURE)
    if options.fits:
        return compare_part(options, fit_tables, peers.OF_CURVATURE)
    settings = dict(QUICK if options.quick else FULL)
    for name in ("rounds", "seeds"):
        if getattr(options, name) is not None:
            settings[name] = getattr(options, name)
    found = peers.find()
    out = page.folder_of(options.out, options.quick, found)
    refused = out != page.RESULTS and options.out is None and not options.quick
    if refused:
        print(f"results go to {out}, docs/benchmarks.md stays as it is: {', '.join(page.lacking(found))} not here",
              file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix="nustream-compare-", dir="/dev/shm") as folder:
        result = compare(options, found, settings, Path(folder))
    page.write(result, out, options.build)
    if refused:
        sys.exit(1)


main()
