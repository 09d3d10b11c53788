"""A sample of noise: per coordinate and step."""

from . import jax_peer
from .peers import here
from .step_loop import DIMENSIONS, by_dimension
from .timing import Case, measure, timed


def ours(dimension):
    return f"nustream, rational of 6 poles, d = {dimension}"


def nustream(product, folder):
    names = {f"{case} on the grid, d = {d}": f"{shown}, d = {d}" for d in DIMENSIONS
             for case, shown in (("independent", "nustream, independent"),
                                 ("rational m = 6", "nustream, rational of 6 poles"))}

    def run():
        measured = product.benchmark("benchmark_noise", folder)
        return {shown: measured[name] for name, shown in names.items()}

    return Case(run, {shown: {"peer": "nustream", "private": True,
                              "note": "AES-256-CTR, double precision, rounded to the grid"} for shown in names.values()})


def numpy_noise(dimension, steps):
    import numpy
    draw = numpy.random.default_rng(1)
    out = numpy.empty((steps, dimension))
    return timed(f"numpy, independent, d = {dimension}", steps * dimension, lambda: draw.standard_normal(out=out),
                 peer="numpy", private=True, note="PCG64 and ziggurat, double precision; not a cryptographic generator")


def section(product, found, folder, settings, fits):
    cases = [nustream(product, folder)]
    for dimension in DIMENSIONS:
        steps = max(8, settings["noise_samples"] // dimension)
        if here(found, "numpy"):
            cases.append(numpy_noise(dimension, steps))
        if here(found, "jax-privacy") and fits:
            cases += [timed(f"jax-privacy, {name}, d = {dimension}", steps * dimension,
                            jax_peer.noise(matrix, dimension, steps), peer="jax-privacy", private=True,
                            note="threefry, single precision, one compiled loop")
                      for name, matrix in jax_peer.matrices(fits).items()]
    measured = measure(cases, settings["rounds"], ours(DIMENSIONS[0]))
    return by_dimension("noise", "A sample of noise", "coordinate and step", measured, ours)
