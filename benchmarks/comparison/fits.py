"""Lets jax-privacy optimise its strategies for a number of steps, with its own accounting of what one record can do.
This takes minutes, so the results are kept beside the build."""

import functools
import itertools
import json
from pathlib import Path


def fit(found, steps, cache):
    """The strategies as {"blt": {…}, "banded, 32": {…}, …}: c (the first column of C), the sensitivity according to
    jax-privacy, and how it was made."""
    file = Path(cache, f"jax-privacy-{found['jax-privacy']['version']}-{steps}.json")
    if file.exists():
        return json.loads(file.read_text())
    import jax
    from jax_privacy.matrix_factorization import buffered_toeplitz, toeplitz
    jax.config.update("jax_enable_x64", True)
    fits = {}
    blt = buffered_toeplitz.optimize(n=steps)
    fits["blt"] = {"call": f"buffered_toeplitz.optimize(n={steps})", "buf_decay": listed(blt.buf_decay),
                   "output_scale": listed(blt.output_scale), "c": listed(blt.toeplitz_coefs(steps)),
                   "sensitivity": float(buffered_toeplitz.sensitivity_squared(blt, steps)) ** 0.5}
    for bands in (32, 256):
        c = toeplitz.optimize_banded_toeplitz(n=steps, bands=bands)
        fits[f"banded, {bands}"] = with_sensitivity(
            toeplitz, c, steps, f"toeplitz.optimize_banded_toeplitz(n={steps}, bands={bands})")
    fits["optimal Toeplitz"] = with_sensitivity(toeplitz, toeplitz.optimal_max_error_strategy_coefs(steps), steps,
                                                f"toeplitz.optimal_max_error_strategy_coefs({steps})")
    jax.config.update("jax_enable_x64", False)
    file.write_text(json.dumps(fits))
    return fits


def with_sensitivity(toeplitz, c, steps, call):
    """The strategy with a first coefficient of 1. This changes nothing, since the noise is divided by what the
    sensitivity is multiplied by."""
    first = float(c[0])
    return {"call": call, "c": [value / first for value in listed(c)],
            "sensitivity": float(toeplitz.sensitivity_squared(c, steps)) ** 0.5 / first}


@functools.lru_cache(1)
def square_root(steps):
    """c of jax-privacy's strategy of least maximal error of prefix sums, which needs no optimiser; by its formula where
    jax-privacy is not here."""
    try:
        from jax_privacy.matrix_factorization import toeplitz
    except ImportError:
        return listed(itertools.accumulate(range(1, steps), lambda c, t: c * (2 * t - 1) / (2 * t), initial=1.0))
    import jax
    jax.config.update("jax_enable_x64", True)
    c = listed(toeplitz.optimal_max_error_strategy_coefs(steps))
    jax.config.update("jax_enable_x64", False)
    return c


def listed(array):
    return [float(value) for value in array]
