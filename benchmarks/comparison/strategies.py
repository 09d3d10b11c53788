"""The correlations that are compared at one ρ: the [noise] section of each, and the sensitivity that foreign ones
claim themselves."""

from dataclasses import dataclass


@dataclass
class Strategy:
    name: str
    peer: str
    noise: str  # the [noise] section's lines
    sensitivity: float = None  # by the peer's accounting; where it is given, σ is made from it


def own(stream, suggested_nu, nu_of_last, steps):
    """nustream's own. `suggested_nu` is what a plan suggests for the average, and `nu_of_last` for the last iterate."""
    low, high = stream.curvature
    return [Strategy("independent", "nustream", 'correlation = "independent"\n'),
            Strategy("rational, suggested ν", "nustream", f'correlation = "rational"\nnu = {suggested_nu}\n'),
            Strategy("rational, ν of the last iterate", "nustream", f'correlation = "rational"\nnu = {nu_of_last}\n'),
            Strategy("optimised for the descent", "nustream",
                     f'correlation = "optimised"\nobjective = "descent"\nstrong_convexity = {low}\n'
                     f"smoothness = {high}\npoles = 5\n"),
            Strategy("optimised for prefix sums", "nustream",
                     f'correlation = "optimised"\nobjective = "prefix-sum"\nhorizon = {steps}\npoles = 5\n')]


NAMES = {"blt": "jax-privacy: BLT", "banded, 32": "jax-privacy: banded Toeplitz, 32",
         "banded, 256": "jax-privacy: banded Toeplitz, 256", "optimal Toeplitz": "jax-privacy: optimal Toeplitz"}


def foreign(fits, steps):
    return [Strategy(NAMES[key], "jax-privacy",
                     f'correlation = "strategy"\nhorizon = {steps}\nc = [{", ".join(map(repr, fit["c"]))}]\n',
                     fit["sensitivity"])
            for key, fit in fits.items()]
