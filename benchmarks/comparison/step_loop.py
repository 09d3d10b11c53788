"""Measures one private step for each record over rows in memory: gradient, clip, noise and step."""

from . import jax_peer, rows
from .peers import here
from .timing import Case, measure, timed

STEP_SIZE = 1e-4
CLIP_NORM = 3.0
DIMENSIONS = (10, 128, 1000)


def ours(dimension):
    return f"nustream, rational of 6 poles, d = {dimension}"


def nustream(product, folder, dimension, rows_file):
    """The cases of both noises and of the plain loop, which one run of a program times."""
    cases = {"plain": ("plain C++ loop, no privacy", False, "no clip, no noise, as anybody would write it"),
             "lane with its noise, independent": ("nustream, independent", True, "keyed noise, on the grid, one thread"),
             "lane with its noise, rational m = 6": ("nustream, rational of 6 poles", True,
                                                     "keyed noise, on the grid, one thread")}

    def run():
        measured = product.benchmark("benchmark_descent", folder, DIMENSION=dimension, ROWS_FILE=rows_file)
        return {f"{shown}, d = {dimension}": measured[f"{case}, d = {dimension}"]
                for case, (shown, _, _) in cases.items()}

    return Case(run, {f"{shown}, d = {dimension}": {"peer": "nustream", "private": private, "note": note}
                      for shown, private, note in cases.values()})


def numpy_loop(x, y, private):
    import numpy
    steps, dimension = x.shape
    draw = numpy.random.default_rng(1)

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


def jax_loops(fits, x, y):
    steps, dimension = x.shape
    return [timed(f"jax-privacy, {name}, d = {dimension}", steps,
                  jax_peer.descent(matrix, x, y, STEP_SIZE, CLIP_NORM), peer="jax-privacy", private=True,
                  note="one compiled loop, batches of one, single precision")
            for name, matrix in jax_peer.matrices(fits).items()]


def section(product, found, folder, settings, fits):
    cases = []
    for dimension in DIMENSIONS:
        rows_file = rows.write_doubles(folder, dimension, rows.steps_of(settings["loop_values"], dimension))
        cases.append(nustream(product, folder, dimension, rows_file))
        if here(found, "numpy"):
            x, y = rows.read_doubles(rows_file, dimension)
            cases += [numpy_loop(x, y, private) for private in (False, True)]
            if here(found, "jax-privacy") and fits:
                cases += jax_loops(fits, x, y)
    measured = measure(cases, settings["rounds"], ours(DIMENSIONS[0]))
    return by_dimension("step loop", "A step in memory", "step", measured, ours, settings["loop_values"])


def by_dimension(name, title, unit, measured, baseline_of, values):
    """Makes one section for each dimension, with ratios to its own baseline."""
    sections = []
    for dimension in DIMENSIONS:
        table = [dict(row) for row in measured if row["name"].endswith(f", d = {dimension}")]
        base = next(row for row in table if row["name"] == baseline_of(dimension))
        least, middle = base["nanoseconds_min"], base["nanoseconds_median"]
        for row in table:
            row["ratio_min"], row["ratio_median"] = row["nanoseconds_min"] / least, row["nanoseconds_median"] / middle
            row["name"] = row["name"].removesuffix(f", d = {dimension}")
        sections.append({"name": f"{name}, d = {dimension}", "title": f"{title}, d = {dimension}", "unit": unit,
                         "steps": rows.steps_of(values, dimension),
                         "baseline": baseline_of(dimension).removesuffix(f", d = {dimension}"), "rows": table})
    return sections
