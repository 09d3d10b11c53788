"""DP-GD over a whole table (Brunel, Drechsler and Erez 2025), in numpy, under many keys at once: T steps of the clipped
mean gradient, all records in each, with independent noise. One record moves the sum by the clip norm (zero-out)."""

import itertools
import math

from .arrays import numpy

STEPS = (10, 40, 160)
STEP_SIZES = (0.25, 0.5, 1.0)  # the guess of the largest eigenvalue is 1; columns that go together have larger ones
CHUNK = 1 << 15  # rows


def clipped_sums(x, y, lengths, theta, clip):
    """Σ clip(x·(xᵀθ − y)) for each column of theta."""
    total = numpy.zeros_like(theta)
    for begin in range(0, len(y), CHUNK):
        part, longest = x[begin:begin + CHUNK], clip / lengths[begin:begin + CHUNK, None]
        pull = part @ theta - y[begin:begin + CHUNK, None]
        numpy.clip(pull, -longest, longest, out=pull)
        total += part.T @ pull
    return total


def paths(table, steps, step_size, clip, keys):
    """[(last iterate, mean of the second half)] of each key."""
    x, y = table.working
    lengths = numpy.maximum(numpy.linalg.norm(x, axis=1), 1e-300)
    draws = [numpy.random.default_rng((key, steps)) for key in keys]
    deviation = clip * math.sqrt(steps / (2 * table.rho))  # of the sum: a record takes part in every step
    theta = numpy.zeros((table.d, len(draws)))
    later = numpy.zeros_like(theta)
    for step in range(steps):
        noise = numpy.column_stack([draw.standard_normal(table.d) for draw in draws])
        theta = theta - step_size / len(y) * (clipped_sums(x, y, lengths, theta, clip) + deviation * noise)
        if step >= steps // 2:
            later += theta / (steps - steps // 2)
    return list(zip(theta.T, later.T))


def best(table, clip, keys, tried):
    """(settings, [θ of each key]): the number of steps, the step size, the clip norm (the given one and half of it) and the
    quoted number of least median excess over a few keys, chosen by the outcome."""
    found = {}
    for chosen in itertools.product(STEPS, STEP_SIZES, (clip / 2, clip)):
        runs = paths(table, *chosen, range(1, tried + 1))
        for at, number in enumerate(("last", "average")):
            found[*chosen, number] = float(numpy.median([table.excess(pair[at]) for pair in runs]))
    *chosen, number = min(found, key=found.get)
    settings = {**dict(zip(("steps", "step_size", "clip_norm"), chosen)), "quoted": number}
    return settings, [pair[("last", "average").index(number)] for pair in paths(table, *chosen, keys)]
