"""Measures what a sample of noise costs, for each coordinate and step."""

from . import jax_peer
from .peers import here
from .rows import steps_of
from .step_loop import DIMENSIONS, by_dimension
from .timing import Case, measure, timed

BLOCK_VALUES = 1 << 14


def ours(dimension):
    return f"nustream, rational of 6 poles, d = {dimension}"


def nustream(product, folder, dimension, steps):
    names = {"independent on the grid": "nustream, independent",
             "rational m = 6 on the grid": "nustream, rational of 6 poles"}

    def run():
        measured = product.benchmark("benchmark_noise", folder, DIMENSION=dimension, STEPS=steps)
        return {f"{shown}, d = {dimension}": measured[f"{case}, d = {dimension}"] for case, shown in names.items()}

    return Case(run, {f"{shown}, d = {dimension}": {"peer": "nustream", "private": True,
                                                    "note": "AES-256-CTR, double precision, rounded to the grid"}
                      for shown in names.values()})


def numpy_noise(dimension, steps):
    """Draws into the same memory again and again, which is as large as nustream's blocks."""
    import numpy
    draw = numpy.random.default_rng(1)
    block = numpy.empty((steps_of(BLOCK_VALUES, dimension), dimension))

    def work():
        for _ in range(steps // len(block)):
            draw.standard_normal(out=block)

    return timed(f"numpy, independent, d = {dimension}", steps * dimension, work, peer="numpy", private=True,
                 note="PCG64 and ziggurat, double precision; not a cryptographic generator")


def section(product, found, folder, settings, fits):
    cases = []
    for dimension in DIMENSIONS:
        steps = steps_of(settings["noise_values"], dimension)
        cases.append(nustream(product, folder, dimension, steps))
        if here(found, "numpy"):
            cases.append(numpy_noise(dimension, steps))
        if here(found, "jax-privacy") and fits:
            cases += [timed(f"jax-privacy, {name}, d = {dimension}", steps * dimension,
                            jax_peer.noise(matrix, dimension, steps), peer="jax-privacy", private=True,
                            note="threefry, single precision, one compiled loop")
                      for name, matrix in jax_peer.matrices(fits).items()]
    measured = measure(cases, settings["rounds"], ours(DIMENSIONS[0]))
    return by_dimension("noise", "A sample of noise", "coordinate and step", measured, ours, settings["noise_values"])
