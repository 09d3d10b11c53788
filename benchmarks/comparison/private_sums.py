"""What one would write by hand instead of nustream: private sums of xxᵀ and xy in numpy, by one release at the end, by a
tree or by the square root of the prefix-sum matrix, and AdaSSP. Neighbours are zero-out; floating-point noise of PCG64,
not keyed and not on a grid. Rows are scaled to R_x and targets clipped to R_y, as nustream does about the centre 0."""

import functools
import math

from .arrays import numpy


def scaled(table, row_norm, bound):
    """Rows whose length is at most row_norm, and targets within ±bound."""
    x, y = table.working
    scale = numpy.minimum(1, row_norm / numpy.maximum(numpy.linalg.norm(x, axis=1), 1e-300))
    return x * scale[:, None], numpy.clip(y * scale, -bound, bound)


@functools.lru_cache(4)
def prefix_sums(table, row_norm, bound):
    """[(Σ xxᵀ, Σ xy)] up to each checkpoint."""
    x, y = scaled(table, row_norm, bound)
    return [(x[:step * table.every].T @ x[:step * table.every], x[:step * table.every].T @ y[:step * table.every])
            for step in table.steps]


def symmetric(draw, d, steps):
    """steps × d × d: N(0, 1) on the diagonal and N(0, ½) beside it, the noise of ‖xxᵀ‖_F ≤ 1 in all its directions."""
    full = draw.standard_normal((steps, d, d))
    return (full + full.transpose(0, 2, 1)) / 2


def of_square_root(draw, shape, steps):
    """Noise of the prefix sums at `steps` for the optimal Toeplitz factorisation (ν = 0), at noise multiplier 1: the sums
    of C w, C² the matrix of ones. Returns [(noise, its standard deviation)] and the sensitivity."""
    c = numpy.ones(steps[-1])
    for t in range(1, len(c)):
        c[t] = c[t - 1] * (2 * t - 1) / (2 * t)
    lengths = numpy.sqrt(numpy.cumsum(c * c))
    w = shape(draw, steps[-1])
    return [(numpy.tensordot(c[:step][::-1], w[:step], 1), lengths[step - 1]) for step in steps], lengths[-1]


def of_tree(draw, shape, steps):
    """The same of a binary tree whose running sums take, of each complete subtree, the estimate of least variance
    (Honaker 2015). A record is in one node of each level."""
    w, stack, found, wanted = shape(draw, 2 * steps[-1]), [], [], set(steps)
    used = 0
    for step in range(1, steps[-1] + 1):
        node, variance, height = w[used], 1.0, 0
        used += 1
        while stack and stack[-1][2] == height:
            other, of_other, _ = stack.pop()
            below, of_below = node + other, variance + of_other
            node = (w[used] * of_below + below) / (1 + of_below)  # its own noise has variance 1
            variance, height, used = of_below / (1 + of_below), height + 1, used + 1
        stack.append((node, variance, height))
        if step in wanted:
            found.append((sum(each[0] for each in stack), math.sqrt(sum(each[1] for each in stack))))
    return found, math.sqrt(int(math.log2(steps[-1])) + 1)


def of_once(draw, shape, steps):
    """One release at the end."""
    return [(shape(draw, 1)[0], 1.0)], 1.0


def solved(h, g, floor):
    values, vectors = numpy.linalg.eigh(h)
    return vectors @ ((vectors.T @ g) / numpy.maximum(values, floor))


def running(noise_of, table, row_norm, bound, key):
    """θ at the checkpoints (one θ where there is one release). Each block has half of ρ; eigenvalues are raised to
    √(2d) standard deviations of the diagonal's noise, as in nustream."""
    sums = prefix_sums(table, row_norm, bound)
    draw, d = numpy.random.default_rng(key), table.d
    of_h, sensitivity = noise_of(draw, lambda source, count: symmetric(source, d, count), table.steps)
    of_g, _ = noise_of(draw, lambda source, count: source.standard_normal((count, d)), table.steps)
    unit = row_norm * sensitivity / math.sqrt(table.rho)  # σ = Δ·sensitivity/√(2·ρ/2), but for the rest of Δ
    return [solved(h + unit * row_norm * noise, g + unit * bound * beside, math.sqrt(2 * d) * unit * row_norm * deviation)
            for (h, g), (noise, deviation), (beside, _) in zip(sums[-len(of_h):], of_h, of_g)]


def adassp(table, row_norm, bound, key):
    """Wang 2018, algorithm 2, with a third of ρ for each of its three releases (zCDP in place of its ε and δ)."""
    (h, g), d = prefix_sums(table, row_norm, bound)[-1], table.d
    draw = numpy.random.default_rng(key)
    sigma = 1 / math.sqrt(2 * table.rho / 3)
    least = numpy.linalg.eigvalsh(h)[0] + row_norm ** 2 * sigma * (draw.standard_normal() - math.sqrt(2 * math.log(6 / 0.05)))
    ridge = max(0.0, math.sqrt(d * math.log(2 * d * d / 0.05)) * row_norm ** 2 * sigma - max(0.0, least))
    noisy = h + row_norm ** 2 * sigma * symmetric(draw, d, 1)[0] + ridge * numpy.eye(d)
    return [numpy.linalg.solve(noisy, g + row_norm * bound * sigma * draw.standard_normal(d))]
