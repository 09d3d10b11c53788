"""The comparison of CDP+ figure 4 on a model that the library has: a multinomial model of scikit-learn's digits (1,797
images of 8 × 8 pixels), which are read as a stream several times. Accuracy is on images that were not read, of the last
iterate and of the average of the second half, at one ε. The step size is the best of a grid by its outcome, for all
contenders alike."""

import gzip
import math
import statistics
import sys

from .accuracy import spread
from .peers import here
from .tables import sigma_at

DELTA = 1e-5
TEST = 360  # the last ones of the file; other people wrote them
FULL = {"epsilons": (2.0, 4.0, 10.0), "passes": 10, "minibatch": 47, "step_sizes": (0.5, 1.0, 2.0), "seeds": 12}
QUICK = {"epsilons": (10.0,), "passes": 2, "minibatch": 47, "step_sizes": (0.5,), "seeds": 1}
CLASSES, PIXELS = 10, 64
CLIP = 1.0
TRAINED_AT = 4.0  # the ε at which momentum and cooldown are compared


def rows():
    """Rows [pixels about the middle of their range…, digit] of the file that scikit-learn ships, in its order."""
    import sklearn
    with gzip.open(f"{sklearn.__path__[0]}/datasets/data/digits.csv.gz", "rt") as lines:
        return [[float(value) / 16 - 0.5 for value in line.split(",")[:PIXELS]] + [int(float(line.rsplit(",", 1)[1]))]
                for line in lines]


def strategies(steps, passes):
    """{name: [noise] section}; steps / passes steps lie between two participations of a record."""
    apart = steps // passes
    return {"independent": 'correlation = "independent"\n',
            "tree": f'correlation = "tree"\nheight = {math.ceil(math.log2(steps))}\n',
            "ν = .1": 'correlation = "rational"\nnu = 0.1\n',
            "ν = .01": 'correlation = "rational"\nnu = 0.01\n',
            "optimised, banded": f'correlation = "optimised"\nobjective = "prefix-sum"\nerror = "mean"\nhorizon = {steps}\n'
                                 f"bands = {apart}\nparticipations = {passes}\nseparation = {apart}\n"}


def trainings(steps):
    """{name: (factor of the step size, lines of [descent])}: plain steps, and what the paper's experiments do. A step with
    momentum μ moves η/(1 − μ) in all, and a cooldown brings the step size over the last quarter to a twentieth. The number
    of steps is known to all of them."""
    known = f"horizon = {steps}\n"
    return {"plain": (1.0, known), "momentum .9": (0.1, known + "momentum = 0.9\n"),
            "cooldown": (1.0, known + "cooldown = 0.25\ncooldown_to = 0.05\n"),
            "both": (0.1, known + "momentum = 0.9\ncooldown = 0.25\ncooldown_to = 0.05\n")}


def configure(folder, noise, epsilon, step_size, settings, steps, training=""):
    names = [f"p{j}" for j in range(PIXELS)]
    text = ('[stream]\nname = "digits"\ninput = "digits.csv"\n[target]\ncolumn = "digit"\n'
            + "".join(f'[[features]]\ncolumn = "{name}"\n' for name in names)
            + f'[model]\nloss = "multinomial"\nclasses = {CLASSES}\n[descent]\nstep_size = {step_size}\n'
            f'clip_norm = {CLIP}\nminibatch = {settings["minibatch"]}\naverage = "tail"\naverage_from = {steps // 2}\n'
            f"{training}[privacy]\nepsilon = {epsilon}\ndelta = {DELTA}\n[noise]\n{noise}[release]\nevery = {steps}\n")
    path = folder / "digits.toml"
    path.write_text(text)
    return path


def accuracy(scores_of, test):
    """The share of rows [pixels…, digit] whose largest score is that of their digit."""
    right = 0
    for row in test:
        scores = scores_of(row[:PIXELS])
        right += max(range(CLASSES), key=scores.__getitem__) == row[PIXELS]
    return right / len(test)


def scores_of(coefficients):
    """The scores of the classes by a release's coefficients; class 0 is the reference."""
    tables = [[coefficients[f"class {k}: {name}"] for name in ("intercept", *(f"p{j}" for j in range(PIXELS)))]
              for k in range(1, CLASSES)]
    return lambda pixels: [0.0, *(each[0] + sum(a * b for a, b in zip(each[1:], pixels)) for each in tables)]


def of_product(product, config, settings, seed, test):
    last = product.replay(config, "--insecure-seed", str(seed), "--passes", str(settings["passes"]))[-1]
    return accuracy(scores_of(last["estimate"]), test), accuracy(scores_of(last["average"]), test)


def of_dpsgd(train, test, sigma, step_size, steps, chance, seed):
    """DP-SGD over Poisson samples of the records, with nustream's gradients: class 0 is the reference."""
    import numpy
    table = numpy.array(train)
    x, digits = numpy.column_stack([numpy.ones(len(table)), table[:, :PIXELS]]), table[:, PIXELS].astype(int)
    draw = numpy.random.default_rng(seed)
    theta = numpy.zeros((CLASSES - 1, x.shape[1]))
    total, counted = numpy.zeros_like(theta), 0
    for step in range(steps):
        sampled = draw.random(len(x)) < chance
        part = x[sampled]
        scores = numpy.column_stack([numpy.zeros(len(part)), part @ theta.T])
        shares = numpy.exp(scores - scores.max(axis=1, keepdims=True))
        pulls = shares / shares.sum(axis=1, keepdims=True) - numpy.eye(CLASSES)[digits[sampled]]
        pulls = pulls[:, 1:]
        lengths = numpy.linalg.norm(pulls, axis=1) * numpy.linalg.norm(part, axis=1)
        kept = numpy.minimum(1, CLIP / numpy.maximum(lengths, 1e-300))
        noisy = (pulls * kept[:, None]).T @ part + sigma * CLIP * draw.standard_normal(theta.shape)
        theta -= step_size * noisy / (chance * len(x))
        if step >= steps // 2:
            total += theta
            counted += 1

    def score(table_):
        return lambda pixels: [0.0, *(table_[:, 0] + table_[:, 1:] @ numpy.array(pixels))]
    return accuracy(score(theta), test), accuracy(score(total / counted), test)


def best(runs):
    """Of {step size: [(last, average)…]} the step size of the largest mean accuracy, for the last and for the average."""
    found = {}
    for at, kind in enumerate(("last", "average")):
        means = {size: statistics.fmean(pair[at] for pair in pairs) for size, pairs in runs.items()}
        size = max(means, key=means.get)
        found[kind] = {"step_size": size, **spread([pair[at] for pair in runs[size]])}
    return found


def trained(product, folder, settings, steps, test):
    """Momentum and cooldown, by the last iterate alone: that is what a cooldown is for."""
    lines = []
    for noise in ("independent", "ν = .01"):
        for name, (share, training) in trainings(steps).items():
            section = strategies(steps, settings["passes"])[noise]
            runs = {size: [of_product(product, configure(folder, section, TRAINED_AT, size * share, settings, steps, training),
                                      settings, seed, test) for seed in range(1, settings["seeds"] + 1)]
                    for size in settings["step_sizes"]}
            lines.append({"noise": noise, "training": name, "last": best(runs)["last"]})
    return lines


def compare(product, folder, settings, found):
    if not (here(found, "scikit-learn") and here(found, "dp-accounting") and here(found, "numpy")):
        raise SystemExit("images are scikit-learn's, and DP-SGD's accounting dp-accounting's; one of them is not here")
    every = rows()
    train, test = every[:-TEST], every[-TEST:]
    train = train[:len(train) // settings["minibatch"] * settings["minibatch"]]
    steps = len(train) // settings["minibatch"] * settings["passes"]
    with open(folder / "digits.csv", "w") as out:
        out.write(",".join([*(f"p{j}" for j in range(PIXELS)), "digit"]) + "\n")
        out.writelines(",".join(map(repr, row)) + "\n" for row in train)
    seeds = range(1, settings["seeds"] + 1)
    chance, results = settings["minibatch"] / len(train), []
    for epsilon in settings["epsilons"]:
        lines = []
        for name, noise in strategies(steps, settings["passes"]).items():
            runs = {size: [of_product(product, configure(folder, noise, epsilon, size, settings, steps), settings, seed, test)
                           for seed in seeds] for size in settings["step_sizes"]}
            lines.append({"name": name, "peer": "nustream", **best(runs)})
        sigma = sigma_at(chance, steps, epsilon, DELTA)
        runs = {size: [of_dpsgd(train, test, sigma, size, steps, chance, seed) for seed in seeds]
                for size in settings["step_sizes"]}
        lines.append({"name": "DP-SGD, sampled", "peer": "dp-accounting", "noise_multiplier": sigma, **best(runs)})
        results.append({"epsilon": epsilon, "rows": lines})
        print(f"images: epsilon {epsilon:g} done", file=sys.stderr, flush=True)
    beside = trained(product, folder, settings, steps, test)
    runs = {size: [of_dpsgd(train, test, 0.0, size, steps, chance, seed) for seed in seeds] for size in settings["step_sizes"]}
    return {"benchmark": "compare, images", "peers": found, "delta": DELTA, "records": len(train), "test": len(test),
            "passes": settings["passes"], "steps": steps, "minibatch": settings["minibatch"], "clip_norm": CLIP,
            "step_sizes": list(settings["step_sizes"]), "seeds": settings["seeds"], "without_noise": best(runs),
            "budgets": results, "trained": {"epsilon": TRAINED_AT, "rows": beside}}


def percent(found):
    return f"{100 * found['mean']:.1f}% ({100 * found['standard_error']:.1g})"


def page(result):
    """What stands between the page's markers."""
    plain = result["without_noise"]
    lines = [f"{result['records']:,} images in {result['passes']} passes, {result['steps']} steps of {result['minibatch']}, clip "
             f"{result['clip_norm']:g}, zero-out, δ = {result['delta']:g}; accuracy on {result['test']} others, mean over "
             f"{result['seeds']} seeds (standard error), step size of {', '.join(f'{each:g}' for each in result['step_sizes'])} "
             f"by the outcome. Without noise, clipped alike: {percent(plain['last'])}. scikit-learn "
             f"{result['peers']['scikit-learn']['version']}, dp-accounting {result['peers']['dp-accounting']['version']}.", "",
             "| ε | noise | last iterate | average |", "|---|---|---|---|"]
    for budget in result["budgets"]:
        for row in budget["rows"]:
            name = row["name"] if row["peer"] != "nustream" else f"nustream: {row['name']}"
            lines.append(f"| {budget['epsilon']:g} | {name} | {percent(row['last'])} | {percent(row['average'])} |")
    trained_at = result["trained"]
    lines += ["", f"With momentum and a cooldown of the step size, ε = {trained_at['epsilon']:g}, the number of steps known:", "",
              "| noise | plain | momentum .9 | cooldown | both |", "|---|---|---|---|---|"]
    for noise in ("independent", "ν = .01"):
        cells = [percent(row["last"]) for row in trained_at["rows"] if row["noise"] == noise]
        lines.append(f"| {noise} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
