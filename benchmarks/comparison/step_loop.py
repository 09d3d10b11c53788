"""One private step per record, rows in memory: gradient, clip, noise, step."""

from . import jax_peer
from .peers import here
from .timing import Case, measure, timed

STEP_SIZE = 1e-4
CLIP_NORM = 3.0
DIMENSIONS = (10, 128, 1000)


def ours(dimension):
    return f"nustream, rational of 6 poles, d = {dimension}"


def nustream(product, folder):
    """All dimensions by one run of the program that times them."""
    cases = {"plain": ("plain C++ loop, no privacy", False, "no clip, no noise, as anybody would write it"),
             "lane with its noise, independent": ("nustream, independent", True, "keyed noise, on the grid, one thread"),
             "lane with its noise, rational m = 6": ("nustream, rational of 6 poles", True,
                                                     "keyed noise, on the grid, one thread")}
    names = {f"{case}, d = {d}": (f"{shown}, d = {d}", private, note)
             for d in DIMENSIONS for case, (shown, private, note) in cases.items()}

    def run():
        measured = product.benchmark("benchmark_descent", folder)
        return {shown: measured[name] for name, (shown, _, _) in names.items()}

    return Case(run, {shown: {"peer": "nustream", "private": private, "note": note}
                      for shown, private, note in names.values()})


def numpy_loop(dimension, steps, private):
    import numpy
    draw = numpy.random.default_rng(1)
    x, y = draw.standard_normal((steps, dimension)), draw.standard_normal(steps)

    def plain():
        theta = numpy.zeros(dimension)
        for row, target in zip(x, y):
            theta -= STEP_SIZE * (row @ theta - target) * row

    def noisy():
        theta = numpy.zeros(dimension)
        for row, target in zip(x, y):
            gradient = (row @ theta - target) * row
            gradient *= min(1.0, CLIP_NORM / numpy.sqrt(gradient @ gradient))
            gradient += draw.standard_normal(dimension)
            theta -= STEP_SIZE * gradient

    what = "independent" if private else "no privacy"
    return timed(f"numpy loop, {what}, d = {dimension}", steps, noisy if private else plain, peer="numpy",
                 private=private, note="a Python loop; noise of PCG64, not keyed")


def jax_loops(fits, dimension, steps):
    import numpy
    draw = numpy.random.default_rng(1)
    x, y = draw.standard_normal((steps, dimension)), draw.standard_normal(steps)
    return [timed(f"jax-privacy, {name}, d = {dimension}", steps,
                  jax_peer.descent(matrix, x, y, STEP_SIZE, CLIP_NORM), peer="jax-privacy", private=True,
                  note="one compiled loop, batches of one, single precision")
            for name, matrix in jax_peer.matrices(fits).items()]


def section(product, found, folder, settings, fits):
    cases = [nustream(product, folder)]
    for dimension in DIMENSIONS:
        steps = max(8, settings["loop_steps"] // dimension)
        if here(found, "numpy"):
            cases += [numpy_loop(dimension, steps, private) for private in (False, True)]
        if here(found, "jax-privacy") and fits:
            cases += jax_loops(fits, dimension, steps)
    measured = measure(cases, settings["rounds"], ours(DIMENSIONS[0]))
    return by_dimension("step loop", "A step in memory", "step", measured, ours)


def by_dimension(name, title, unit, measured, baseline_of):
    """One section a dimension, with ratios to its own baseline."""
    sections = []
    for dimension in DIMENSIONS:
        rows = [dict(row) for row in measured if row["name"].endswith(f", d = {dimension}")]
        base = next(row for row in rows if row["name"] == baseline_of(dimension))
        least, middle = base["nanoseconds_min"], base["nanoseconds_median"]
        for row in rows:
            row["ratio_min"], row["ratio_median"] = row["nanoseconds_min"] / least, row["nanoseconds_median"] / middle
            row["name"] = row["name"].removesuffix(f", d = {dimension}")
        sections.append({"name": f"{name}, d = {dimension}", "title": f"{title}, d = {dimension}", "unit": unit,
                         "baseline": baseline_of(dimension).removesuffix(f", d = {dimension}"), "rows": rows})
    return sections
