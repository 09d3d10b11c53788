"""Compares descents over tables at one (ε, δ). In nustream's descents every record takes its turn. In DP-SGD, each step
takes a random sample of the records, and ε is smaller for that. The accounting of DP-SGD is dp-accounting's, of the
exact privacy loss distribution of Poisson sampling; its loop is the textbook's, in numpy. For both, neighbours differ
in one record that is there or is null (zero-out)."""

import math
import statistics
import sys
from pathlib import Path

from . import answers, streams
from .accuracy import spread, write_rows
from .peers import here

ROOT = Path(__file__).resolve().parents[2]
EPSILON, DELTA = 1.0, 1e-6
FULL = {"rows": 15_000, "steps": (10, 20, 40, 80, 160), "seeds": 8}
QUICK = {"rows": 1_000, "steps": (10, 20), "seeds": 2}
TABLES = ("linear", "logistic", "bike", "covtype")
PART = 10  # steps of a pass with minibatches, each over a tenth of the records
INDEPENDENT = 'correlation = "independent"\n'


def contenders():
    """{name: (whether in minibatches, function from the number of steps to a [noise] section)} of nustream."""
    def bands(steps):
        return (f'correlation = "optimised"\nobjective = "prefix-sum"\nerror = "mean"\nhorizon = {steps}\ndense = true\n'
                f"bands = {min(PART, steps)}\nparticipations = {math.ceil(steps / PART)}\nseparation = {PART}\n")

    return {"all records a step": (False, lambda steps: INDEPENDENT),
            "a tenth a step, independent": (True, lambda steps: INDEPENDENT),
            "a tenth a step, optimised for it": (True, bands)}


def step_size(stream):
    """The step size of every contender: half of what the public guess of the curvature allows."""
    return 0.5 / stream.curvature[1]


def configure(folder, stream, minibatch, noise, steps):
    features = stream.columns[:-1]
    text = (f'[stream]\nname = "{stream.name}"\ninput = "{stream.name}.csv"\n[target]\ncolumn = "y"\n'
            + "".join(f'[[features]]\ncolumn = "{name}"\n' for name in features)
            + f'[model]\nloss = "{stream.loss}"\nintercept = {str(stream.intercept).lower()}\n[descent]\n'
            f"step_size = {step_size(stream)}\nclip_norm = {stream.clip_norm}\n"
            + (f"minibatch = {len(stream.rows) // PART}\n" if minibatch else "")
            + f'[privacy]\nepsilon = {EPSILON}\ndelta = {DELTA}\nadjacency = "zero-out"\n[noise]\n{noise}'
            f"[estimate]\nsteps = {steps}\n[release]\nevery = {steps}\n")
    path = folder / f"{stream.name}-table.toml"
    path.write_text(text)
    return path


def of_product(product, folder, stream, minibatch, noise, steps, seeds, answer):
    config = configure(folder, stream, minibatch, noise, steps)
    # The coefficients come in the order of the settings, the intercept first.
    return [math.dist(product.estimate(config, "--insecure-seed", str(seed)).values(), answer)
            for seed in range(1, seeds + 1)]


def sigma_at(chance, steps, epsilon, delta):
    """The noise multiplier at which `steps` Gaussian steps over Poisson samples are (ε, δ)-private."""
    import dp_accounting
    from dp_accounting import dp_event, privacy_accountant
    from dp_accounting.pld import PLDAccountant
    relation = privacy_accountant.NeighboringRelation.REPLACE_SPECIAL  # by a null record

    def steps_of(sigma):
        return dp_event.SelfComposedDpEvent(dp_event.PoissonSampledDpEvent(chance, dp_event.GaussianDpEvent(sigma)), steps)

    return dp_accounting.calibrate_dp_mechanism(lambda: PLDAccountant(relation), steps_of, epsilon, delta)


def pull_of(numpy, stream, x, y, theta):
    """The factor p of each record, whose gradient is p x."""
    product = x @ theta
    return 1 / (1 + numpy.exp(-product)) - y if stream.loss == "logistic" else product - y


def dpsgd(numpy, stream, chance, sigma, steps, seed):
    """θ after `steps` steps. Each is along the sum of the sampled records' clipped gradients and noise, divided by the
    expected number of sampled records."""
    table = numpy.array(stream.rows, dtype=float)
    x, y = table[:, :-1], table[:, -1]
    if stream.intercept:
        x = numpy.column_stack([numpy.ones(len(x)), x])
    draw = numpy.random.default_rng(seed)
    theta = numpy.zeros(x.shape[1])
    lengths = numpy.linalg.norm(x, axis=1)
    for _ in range(steps):
        sampled = draw.random(len(x)) < chance
        part = x[sampled]
        pull = pull_of(numpy, stream, part, y[sampled], theta)
        kept = numpy.minimum(1, stream.clip_norm / numpy.maximum(numpy.abs(pull) * lengths[sampled], 1e-300))
        total = part.T @ (pull * kept) + sigma * stream.clip_norm * draw.standard_normal(len(theta))
        theta -= step_size(stream) * total / (chance * len(x))
    return theta.tolist()


def of_dpsgd(stream, chance, sigma, steps, seeds, answer):
    import numpy
    return [math.dist(dpsgd(numpy, stream, chance, sigma, steps, seed), answer) for seed in range(1, seeds + 1)]


def best(runs):
    """Of {steps: distances} the number of steps of least mean distance. All contenders choose it by the outcome."""
    steps = min(runs, key=lambda each: statistics.fmean(runs[each]))
    return {"steps": steps, "distance": spread(runs[steps]),
            "by_steps": {str(each): statistics.fmean(values) for each, values in runs.items()}}


def on_table(product, folder, stream, settings, sigmas):
    write_rows(folder, stream)
    import numpy
    answer = answers.fit(numpy, stream, stream.intercept)
    grid, seeds = settings["steps"], settings["seeds"]
    rows = []
    for name, (minibatch, noise) in contenders().items():
        runs = {steps: of_product(product, folder, stream, minibatch, noise(steps), steps, seeds, answer)
                for steps in grid}
        rows.append({"name": name, "peer": "nustream", **best(runs)})
    for chance, by_steps in sigmas.items():
        runs = {steps: of_dpsgd(stream, chance, sigma, steps, seeds, answer) for steps, sigma in by_steps.items()}
        found = best(runs)
        rows.append({"name": f"DP-SGD, each record with chance {chance:g}", "peer": "dp-accounting", **found,
                     "noise_multiplier": by_steps[found["steps"]]})
    least = min(row["distance"]["mean"] for row in rows)
    for row in rows:
        row["ratio"] = row["distance"]["mean"] / least
    print(f"tables: {stream.name} done", file=sys.stderr, flush=True)
    return {"table": stream.name, "about": stream.about, "loss": stream.loss, "records": len(stream.rows),
            "step_size": step_size(stream), "clip_norm": stream.clip_norm, "seeds": seeds, "rows": rows}


def compare(product, folder, settings, found):
    sigmas = {}
    if here(found, "dp-accounting"):
        sigmas = {chance: {steps: sigma_at(chance, steps, EPSILON, DELTA) for steps in settings["steps"]} for chance in (1.0, 0.1, 0.02)}
    if not here(found, "numpy"):
        raise SystemExit("tables are compared with their fits, which numpy makes; it is not here")
    every = [each for each in streams.all_of(ROOT, settings["rows"]) if each.name in TABLES]
    return {"benchmark": "compare, tables", "peers": found, "epsilon": EPSILON, "delta": DELTA, "steps": list(settings["steps"]),
            "tables": [on_table(product, folder, each, settings, sigmas) for each in every]}


def page(result):
    """What stands between the page's markers."""
    told = result["peers"]["dp-accounting"]
    parts = [f"ε = {result['epsilon']:g} at δ = {result['delta']:g}, zero-out; distance of the last iterate from the "
             f"table's fit without privacy, mean over seeds (standard error). The number of steps, of "
             f"{', '.join(map(str, result['steps']))}, is the best one for each row of the table by its outcome. "
             + (f"dp-accounting {told['version']}." if "version" in told else f"Skipped: {told['skipped']}.")]
    for table in result["tables"]:
        parts.append(f"**{table['table']}** ({table['about']}): {table['records']:,} records, η = {table['step_size']:g}, "
                     f"clip {table['clip_norm']:g}, {table['seeds']} seeds.")
        lines = ["| descent | steps | distance | over the least |", "|---|---|---|---|"]
        for row in table["rows"]:
            name = row["name"] if row["peer"] != "nustream" else f"nustream: {row['name']}"
            error = row["distance"]
            lines.append(f"| {name} | {row['steps']} | {error['mean']:.3g} ({error['standard_error']:.1g}) | "
                         f"×{row['ratio']:.2f} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"
