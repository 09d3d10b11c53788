"""Integrals over all frequencies, by a Gauss–Legendre rule on panels that grow finer towards 0."""

import math

NODES = 12  # nodes of the Gauss–Legendre rule on each panel


def legendre(count):
    """Nodes and weights of the Gauss–Legendre rule on [−1, 1]. Newton's method finds the zeros of the polynomial."""
    found = []
    for k in range(1, count + 1):
        x = math.cos(math.pi * (k - 0.25) / (count + 0.5))
        for _ in range(50):
            below, here = 1.0, x
            for n in range(2, count + 1):
                below, here = here, ((2 * n - 1) * x * here - (n - 1) * below) / n
            slope = count * (x * here - below) / (x * x - 1)
            x -= here / slope
        found.append((x, 2 / ((1 - x * x) * slope * slope)))
    return found


def frequencies():
    """Each ω with its weight in (1/2π)∫ over −π … π of an even function. Panels halve towards 0, where spectra peak."""
    rule, grid, right = legendre(NODES), [], math.pi
    for panel in range(48):
        left = right / 2 if panel < 47 else 0.0
        grid += [((left + right) / 2 + (right - left) / 2 * x, (right - left) / 2 * w / math.pi) for x, w in rule]
        right = left
    return grid


GRID = frequencies()


def mean_over(function):
    """The mean of an even function of ω over −π … π."""
    return math.fsum(weight * function(omega) for omega, weight in GRID)
