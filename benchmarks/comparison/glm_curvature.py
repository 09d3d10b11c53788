"""Logistic and Poisson models of a stream by private curvature, beside the best of a grid of descents at the same ρ,
zero-out, each record once. A study in numpy: the product does not have it for streams.

A stage takes H_i = s²φ''(xᵀθ_c) xxᵀ and g_i = s²·clip(y − φ'(xᵀθ_c), ±R_r) x about its centre θ_c, s = min(1, R_x/‖x‖), and
ends with θ_c + H⁻¹g, the next centre; eigenvalues of H are raised to √(2d) deviations of its noise. A stage drops what came
before it, whose curvature is that of another centre. Records of different stages are different records, so that each stage
has the whole ρ and noise of its own."""

import itertools
import math
import sys

from .arrays import numpy
from . import glm_streams, private_sums
from .estimators_page import shown
from .peers import here

FULL = {"seeds": 20, "rows": 50_000, "rhos": (0.1, 1.0)}
QUICK = {"seeds": 2, "rows": 2_000, "rhos": (1.0,)}
BATCHES = 100
STAGES = (0, 5, 15, 40)  # batches at which a stage begins
SHARES = (0.5, 0.2)  # of ρ, for the curvature
RADII = (1.25, 2.0)  # R_x over √d; the first of both was set before looking
AVERAGE_FROM = (0.25, 0.5)  # of the stream


def stage_sums(stream, theta, row_norm, begin, end):
    x, y = stream.x[begin:end], stream.y[begin:end]
    weight = numpy.minimum(1, row_norm / numpy.linalg.norm(x, axis=1)) ** 2
    score = x @ theta
    residual = numpy.clip(y - stream.model.mean(score), -stream.model.residual, stream.model.residual)
    return (x * (weight * stream.model.bend(score))[:, None]).T @ x, x.T @ (weight * residual)


def by_curvature(stream, rho, share, radius, continual, key):
    """The last θ. `continual`: a release at every batch, by the Toeplitz square root; or one at the end of each stage."""
    draw, theta, d = numpy.random.default_rng(key), stream.start(), stream.x.shape[1]
    row_norm = radius * math.sqrt(d)
    batch = len(stream.y) // BATCHES
    noise_of = private_sums.of_square_root if continual else private_sums.of_once
    for begin, end in itertools.pairwise((*STAGES, BATCHES)):
        h, g = stage_sums(stream, theta, row_norm, begin * batch, end * batch)
        lengths = [end - begin]
        [(of_h, deviation)], sensitivity = noise_of(draw, lambda source, n: private_sums.symmetric(source, d, n), lengths)
        [(of_g, _)], _ = noise_of(draw, lambda source, n: source.standard_normal((n, d)), lengths)
        tau = row_norm ** 2 * stream.model.curvature * sensitivity / math.sqrt(2 * share * rho)
        spread = row_norm * stream.model.residual * sensitivity / math.sqrt(2 * (1 - share) * rho)
        step = private_sums.solved(h + tau * of_h, g + spread * of_g, math.sqrt(2 * d) * tau * deviation)
        theta = theta + step * min(1.0, 1.0 / max(float(numpy.linalg.norm(step)), 1e-300))
    return theta


def toeplitz_noise(steps, d, seeds):
    """steps × d × seeds: noise of unit multiplier through C⁻¹ of the square root, and the sensitivity γ."""
    t = numpy.arange(1, steps)
    beta = numpy.concatenate([[1.0], numpy.cumprod((2 * t - 3) / (2 * t))])
    c = numpy.concatenate([[1.0], numpy.cumprod((2 * t - 1) / (2 * t))])
    size = 1 << (2 * steps - 1).bit_length()
    transformed = numpy.fft.rfft(beta, size)
    z = numpy.empty((steps, d, seeds), numpy.float32)
    for key in range(seeds):
        draw = numpy.random.default_rng(key + 1)
        for j in range(d):
            z[:, j, key] = numpy.fft.irfft(transformed * numpy.fft.rfft(draw.standard_normal(steps), size), size)[:steps]
    return z, math.sqrt(float(c @ c))


def descents(stream, rho, noise, seeds):
    """{(step size, clip, average from): averages of each key} of one pass, a record a step."""
    z, gamma = noise
    sigma, n, d = gamma / math.sqrt(2 * rho), len(stream.y), stream.x.shape[1]
    settings = list(itertools.product(stream.step_sizes, stream.clips))
    eta = numpy.array([each[0] for each in settings])[:, None]
    clip = numpy.array([each[1] for each in settings])[:, None]
    theta = numpy.repeat(stream.start()[:, None], len(settings) * seeds, 1).reshape(d, len(settings), seeds)
    sums = {share: numpy.zeros_like(theta) for share in AVERAGE_FROM}
    lengths = numpy.linalg.norm(stream.x, axis=1)
    for i in range(n):
        pull = stream.model.mean(numpy.tensordot(stream.x[i], theta, 1)) - stream.y[i]
        longest = clip / lengths[i]
        pull = numpy.clip(pull, -longest, longest)
        theta -= eta * (stream.x[i][:, None, None] * pull + (sigma * z[i])[:, None, :] * clip)
        for share, total in sums.items():
            if i >= share * n:
                total += theta
    return {(*pair, share): [sums[share][:, at, key] / (n - math.ceil(share * n)) for key in range(seeds)]
            for share in AVERAGE_FROM for at, pair in enumerate(settings)}


def spread_of(stream, least, thetas):
    values = numpy.array([stream.loss(theta) - least for theta in thetas])
    return {"mean": float(values.mean()), "standard_error": float(values.std(ddof=1) / math.sqrt(len(values))),
            "median": float(numpy.median(values))}


def at_rho(stream, least, rho, noise, seeds):
    keys = range(1, seeds + 1)
    rows = []
    for continual in (False, True):
        name = f"curvature, a release every {'batch' if continual else 'stage'}"
        tried = {(share, radius): spread_of(stream, least, [by_curvature(stream, rho, share, radius, continual, key)
                                                            for key in keys]) for share in SHARES for radius in RADII}
        chosen = min(tried, key=lambda each: tried[each]["mean"])
        rows.append({"name": name, "excess": tried[SHARES[0], RADII[0]]})
        rows.append({"name": f"the same, best of {len(tried)}", "settings": dict(zip(("curvature_share", "radius"), chosen)),
                     "excess": tried[chosen]})
    averages = descents(stream, rho, noise, seeds)
    tried = {chosen: spread_of(stream, least, thetas) for chosen, thetas in averages.items()}
    finite = {settings: found for settings, found in tried.items() if math.isfinite(found["mean"])}
    best = min(finite, key=lambda settings: finite[settings]["mean"])
    settings = dict(zip(("step_size", "clip_norm", "average_from"), best))
    rows.append({"name": f"descent, best of {len(tried)}", "settings": settings, "excess": finite[best]})
    in_order = sorted(finite.values(), key=lambda found: found["mean"])
    middle = in_order[min(len(in_order), len(tried) // 2) - 1]
    rows.append({"name": f"descent, the one of rank {len(tried) // 2}", "excess": middle})
    print(f"curvature: {stream.name}, rho {rho:g} done", file=sys.stderr, flush=True)
    return {"rho": rho, "rows": rows}


def compare(product, folder, settings, found):
    if not here(found, "numpy"):
        raise SystemExit("this study is numpy's; it is not here")
    streams = []
    for make in (glm_streams.covtype, glm_streams.bike):
        stream = make(settings["rows"])
        least = stream.loss(stream.best())
        constant = stream.model.loss(numpy.full(len(stream.y), constant_of(stream)), stream.y)
        noise = toeplitz_noise(len(stream.y), stream.x.shape[1], settings["seeds"])
        streams.append({"stream": stream.name, "about": stream.about, "records": len(stream.y), "dimension": stream.x.shape[1],
                        "of_constant": float(numpy.mean(constant)) - least,
                        "budgets": [at_rho(stream, least, rho, noise, settings["seeds"]) for rho in settings["rhos"]]})
    return {"benchmark": "compare, private curvature", "peers": found, "adjacency": "zero-out", "seeds": settings["seeds"],
            "error": "mean loss a record over that of the likelihood's maximum, in nats", "stages": list(STAGES),
            "batches": BATCHES, "streams": streams}


def constant_of(stream):
    mean = float(numpy.mean(stream.y))
    return math.log(mean / (1 - mean)) if isinstance(stream.model, glm_streams.Chances) else math.log(mean)


def page(result):
    """What stands between the page's markers."""
    parts = [f"{result['error'].capitalize()}: mean over {result['seeds']} keys (standard error)."]
    for stream in result["streams"]:
        lines = [f"**{stream['stream']}** ({stream['about']}): {stream['records']:,} records, d = {stream['dimension']}; "
                 f"of a constant {stream['of_constant']:.3g}.", "",
                 "| ρ | method | chosen | excess | median |", "|---|---|---|---|---|"]
        for budget in stream["budgets"]:
            for row in budget["rows"]:
                chosen = ", ".join(f"{key.replace('_', ' ')} {value:g}" for key, value in row.get("settings", {}).items())
                found = row["excess"]
                lines.append(f"| {budget['rho']:g} | {row['name']} | {chosen} | {shown(found)} | {found['median']:.2g} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"
