"""Compares accuracy at equal ρ. Every strategy goes through nustream's own descent, with the same rows, steps and clip;
only the correlation of the noise differs. A foreign strategy's σ is made from its library's sensitivity."""

import math
import statistics
import sys

from . import answers, strategies, streams

RHO = 0.5
QUIET_RHO = 1e8  # stands for a run without noise: there is 14,000 times less than at RHO


def configure(folder, stream, strategy, rho):
    features = stream.columns if stream.loss == "mean" else stream.columns[:-1]
    target = "" if stream.loss == "mean" else '[target]\ncolumn = "y"\n'
    text = (f'[stream]\nname = "{stream.name}"\ninput = "{stream.name}.csv"\n{target}'
            + "".join(f'[[features]]\ncolumn = "{name}"\n' for name in features)
            + f'[model]\nloss = "{stream.loss}"\nintercept = {str(stream.intercept).lower()}\n'
            f'[descent]\nstep_size = {stream.step_size}\nclip_norm = {stream.clip_norm}\naverage = "tail"\n'
            f"average_from = {len(stream.rows) // 2}\n[privacy]\nrho = {rho!r}\ndelta = 1e-6\n[noise]\n{strategy.noise}"
            f"[release]\nevery = {max(1, len(stream.rows) // 60)}\n")
    path = folder / f"{stream.name}.toml"
    path.write_text(text)
    return path


def write_rows(folder, stream):
    with open(folder / f"{stream.name}.csv", "w") as out:
        out.write(",".join(stream.columns) + "\n")
        out.writelines(",".join(map(repr, row)) + "\n" for row in stream.rows)


def distance(a, b):
    return math.sqrt(sum((a[name] - b[name]) ** 2 for name in a))


def path_of(product, config, seed):
    """The released iterates of the second half of the stream, and the average at its end."""
    releases = product.replay(config, "--insecure-seed", str(seed))
    half = releases[-1]["step"] / 2
    return [one["estimate"] for one in releases if one["step"] > half], releases[-1]["average"]


def spread(values):
    return {"mean": statistics.fmean(values),
            "standard_error": statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0}


def suggested_nus(plan):
    """The ν that the plan suggests for the average, which is what is quoted, and the one for the last iterate. Where the
    plan predicts no average, both are the latter."""
    of_last = plan["suggested_nu"]
    return (plan.get("average") or {}).get("suggested_nu", of_last), of_last


def rho_of(product, folder, stream, strategy):
    """The ρ to ask for so that σ = sensitivity/√(2 RHO) with the peer's sensitivity, and our own sensitivity."""
    gamma = product.plan(configure(folder, stream, strategy, RHO))["gamma_limit"]
    return RHO * (gamma / strategy.sensitivity) ** 2 if strategy.sensitivity else RHO, gamma


def one(product, folder, stream, strategy, quiet, answer, seeds):
    rho, gamma = rho_of(product, folder, stream, strategy)
    config = configure(folder, stream, strategy, rho)
    iterates, averages, from_answer = [], [], []
    for seed in range(1, seeds + 1):
        path, average = path_of(product, config, seed)
        iterates.append(math.sqrt(statistics.fmean(distance(a, b) ** 2 for a, b in zip(path, quiet[0]))))
        averages.append(distance(average, quiet[1]))
        if answer:
            from_answer.append(distance(average, answer))
    result = {"strategy": strategy.name, "peer": strategy.peer, "sensitivity": strategy.sensitivity or gamma,
              "sensitivity_by_nustream": gamma, "iterate": spread(iterates), "average": spread(averages)}
    if answer:
        result["average_from_answer"] = spread(from_answer)
    return result


def on_stream(product, folder, stream, fits, seeds):
    write_rows(folder, stream)
    steps = len(stream.rows)
    independent = strategies.Strategy("independent", "nustream", 'correlation = "independent"\n')
    plan = product.plan(configure(folder, stream, independent, RHO))
    suggested, of_last = suggested_nus(plan)
    contenders = strategies.own(stream, suggested, of_last, steps) + strategies.foreign(fits, steps)
    quiet = path_of(product, configure(folder, stream, independent, QUIET_RHO), 1)
    answer = answers.of(stream, list(quiet[1]))
    results = [one(product, folder, stream, each, quiet, answer, seeds) for each in contenders]
    for result in results:
        for kind in ("iterate", "average"):
            result[kind]["ratio"] = result[kind]["mean"] / results[0][kind]["mean"]
    about = {"stream": stream.name, "about": stream.about, "loss": stream.loss, "steps": steps, "seeds": seeds,
             "step_size": stream.step_size, "clip_norm": stream.clip_norm, "suggested_nu": suggested,
             "suggested_nu_of_last": of_last, "curvature": stream.curvature, "rho": RHO, "strategies": results}
    if answer:
        about["noise_free_from_answer"] = distance(quiet[1], answer)
    print(f"accuracy: {stream.name} done", file=sys.stderr, flush=True)
    return about


def section(product, root, folder, settings, fits):
    """The results of each stream."""
    return [on_stream(product, folder, stream, fits, settings["seeds"])
            for stream in streams.all_of(root, settings["steps"])]
