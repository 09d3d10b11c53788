#!/usr/bin/env python3
"""Compares what the programs of examples/library print with values that are computed here.

Usage: examples.py FOLDER-OF-PROGRAMS. The keys of the programs are fixed, so that nothing here can fail by chance."""

import math
import re
import subprocess
import sys

folder = sys.argv[1]
mistakes = []


def lines_of(name):
    return subprocess.run([f"{folder}/{name}"], capture_output=True, text=True, check=True).stdout.splitlines()


def numbers_in(text):
    return [float(number) for number in re.findall(r"-?\d+\.?\d*", text)]


def expect(what, found, wanted, within):
    if not abs(found - wanted) <= within:
        mistakes.append(f"{what}: {found}, and not {wanted} within {within}")


def column_norm_squares(coefficients):
    """γ_t² = c_0² + … + c_{t−1}², for t = 1, 2, …"""
    total = 0.0
    for c in coefficients:
        total += c * c
        yield total


def nu_ftrl(nu):
    """c of exact ν-FTRL: binom(2t, t)/4^t (1 − ν)^t."""
    c, t = 1.0, 0
    while True:
        yield c
        t += 1
        c *= (2 * t - 1) / (2 * t) * (1 - nu)


def damped(nu):
    c = 1.0
    while True:
        yield c
        c *= 1 - nu


def independent():
    yield 1.0
    while True:
        yield 0.0


def check_plan():
    """γ, σ = γ/√(2ρ) and ρ_t = γ_t²/(2σ²), from the definitions. The rational correlation's γ² is within 1 part in
    1,000 of exact ν-FTRL's, as its header says of the excess."""
    families = {"independent": (independent(), 1e-9), "damped-anti-pgd": (damped(.01), 1e-9), "rational": (nu_ftrl(.01), 1e-3)}
    lines = lines_of("plan_noise")
    if len(lines) != len(families):
        mistakes.append(f"plan_noise: {len(lines)} lines")
    for line in lines:
        name, rest = line.split(None, 1)
        gamma, sigma, *spends, epsilon = numbers_in(rest)
        coefficients, within = families[name]
        squares = [square for square, _ in zip(column_norm_squares(coefficients), range(10_000))]
        limit = squares[-1]
        expect(f"plan_noise: γ of {name}", gamma, math.sqrt(limit), within * gamma)
        expect(f"plan_noise: σ of {name}", sigma, gamma, 1e-8 * gamma)  # at ρ = 1/2
        for steps, spent in zip((1, 100, 10_000), spends):
            expect(f"plan_noise: ρ of {name} after {steps}", spent, squares[steps - 1] / (2 * sigma**2), 2 * within)
        # Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) = δ for μ = √(2ρ) = 1
        phi = lambda z: math.erfc(-z / math.sqrt(2)) / 2  # noqa: E731
        expect(f"plan_noise: δ of {name}", phi(.5 - epsilon) - math.exp(epsilon) * phi(-.5 - epsilon), 1e-6, 1e-11)


def check_mean():
    """The average is near the mean, and the nearer the more values there were. The spend never exceeds 1/2."""
    *releases, last = lines_of("private_mean")
    mean = numbers_in(last)[0]
    expect("private_mean: the true mean", mean, .25, 1e-4)
    if len(releases) != 6:  # every 10,000 of 4 · 16,384 values
        mistakes.append(f"private_mean: {len(releases)} releases")
    for line in releases:
        values, _, average, rho = numbers_in(line)
        expect(f"private_mean: after {values:.0f} values", average, mean, .02 * 10_000 / values)
        expect(f"private_mean: ρ after {values:.0f} values", rho, .5, 1e-3)
        if rho > .5:
            mistakes.append(f"private_mean: ρ is {rho} after {values:.0f} values")


def check_regression():
    for line, truth in zip(lines_of("private_regression"), (3, -2)):
        estimate, low, high = numbers_in(line)
        expect("private_regression", estimate, truth, .1)
        if not low < truth < high or high - low > .2:
            mistakes.append(f"private_regression: {truth} is not between {low} and {high}, or these are far apart")


check_plan()
check_mean()
check_regression()
for line in mistakes:
    print(line, file=sys.stderr)
sys.exit(1 if mistakes else 0)
