"""The comparison of CDP+ figure 4 with the user as the unit, on a stream of the same shape: people write words, and few of
them write much. Each record is a set of words of one user, and whether it was taken up. A logistic model of the words reads
the stream once, with all records of a user as one unit. Loss and accuracy are over users that were not read, at one ε. The
step size is the best of a grid by its outcome, for all contenders alike."""

import math
import random
import statistics
import sys

from .accuracy import spread
from .peers import here
from .tables import sigma_at

DELTA = 1e-5
WORDS, PER_RECORD = 32, 6
FULL = {"epsilons": (2.0, 8.0), "users": 4_000, "step_sizes": (0.01, 0.03, 0.1), "seeds": 12}
QUICK = {"epsilons": (8.0,), "users": 400, "step_sizes": (0.03,), "seeds": 1}
TIMES, APART, CLIP, BATCH = 8, 400, 2.0, 200
TEST_USERS = 500


def people(users, seed):
    """{user: [(words, taken)…]}: a user writes ⌊2/√u⌋ records, u uniform, 64 at most, of words that it likes."""
    draw = random.Random(seed)
    weight = [1.2 * math.sin(3 * word) for word in range(WORDS)]
    found = []
    for _ in range(users):
        liked = [draw.randrange(WORDS) for _ in range(12)]
        records = []
        for _ in range(min(64, max(1, int(2 / math.sqrt(draw.random()))))):
            words = {draw.choice(liked) for _ in range(PER_RECORD)}
            chance = 1 / (1 + math.exp(-sum(weight[word] for word in words)))
            records.append((words, int(draw.random() < chance)))
        found.append(records)
    return found


def row(words):
    return [0.5 if word in words else 0.0 for word in range(WORDS)]


def stream_of(users, seed):
    """All records in an order that mixes users."""
    every = [(who, words, taken) for who, records in enumerate(users) for words, taken in records]
    random.Random(seed).shuffle(every)
    return every


def strategies(steps):
    limits = f"horizon = {steps}\n"
    return {"independent": 'correlation = "independent"\n',
            "tree": f'correlation = "tree"\nheight = {math.ceil(math.log2(steps))}\n',
            "ν = .01": 'correlation = "rational"\nnu = 0.01\n',
            "ν = .001": 'correlation = "rational"\nnu = 0.001\n',
            "optimised, 4 poles": f'correlation = "optimised"\nobjective = "prefix-sum"\n{limits}poles = 4\n'
                                  f"participations = {TIMES}\nseparation = {APART}\n"}


def configure(folder, noise, epsilon, step_size, steps):
    text = ('[stream]\nname = "clicks"\ninput = "clicks.csv"\n[target]\ncolumn = "taken"\n'
            + "".join(f'[[features]]\ncolumn = "w{word}"\n' for word in range(WORDS))
            + f'[model]\nloss = "logistic"\n[descent]\nstep_size = {step_size}\nclip_norm = {CLIP}\naverage = "tail"\n'
            f'average_from = {steps // 2}\n[privacy]\nunit = "user"\nuser = "who"\nepsilon = {epsilon}\ndelta = {DELTA}\n'
            f"[users]\nparticipations = {TIMES}\nseparation = {APART}\n[noise]\n{noise}[release]\nevery = {steps}\n")
    path = folder / "clicks.toml"
    path.write_text(text)
    return path


def judged(theta, test):
    """(loss, accuracy) of [intercept, weights…] over the records of users that were not read."""
    loss = right = count = 0
    for records in test:
        for words, taken in records:
            score = theta[0] + 0.5 * sum(theta[1 + word] for word in words)
            margin = score if taken else -score
            loss += math.log1p(math.exp(-abs(margin))) + max(0.0, -margin)
            right += margin > 0
            count += 1
    return loss / count, right / count


def listed(coefficients):
    return [coefficients["intercept"], *(coefficients[f"w{word}"] for word in range(WORDS))]


def of_product(product, config, seed, test):
    last = product.replay(config, "--insecure-seed", str(seed))[-1]
    return judged(listed(last["estimate"]), test), judged(listed(last["average"]), test)


def of_dpsgd(train, test, sigma, step_size, steps, chance, seed):
    """DP-SGD over Poisson samples of the users: a sampled user gives the clipped mean of its records' gradients, and a step
    is as long as the steps of BATCH records."""
    import numpy
    draw = numpy.random.default_rng(seed)
    tables = [(numpy.array([[1.0, *row(words)] for words, _ in records]),
               numpy.array([taken for _, taken in records], dtype=float)) for records in train]
    theta = numpy.zeros(1 + WORDS)
    total, counted = numpy.zeros_like(theta), 0
    for step in range(steps):
        given = numpy.zeros_like(theta)
        for who in numpy.flatnonzero(draw.random(len(tables)) < chance):
            x, taken = tables[who]
            gradient = x.T @ (1 / (1 + numpy.exp(-x @ theta)) - taken) / len(x)
            given += gradient * min(1.0, CLIP / max(float(numpy.linalg.norm(gradient)), 1e-300))
        noisy = given + sigma * CLIP * draw.standard_normal(len(theta))
        theta = theta - step_size * BATCH * noisy / (chance * len(tables))
        if step >= steps // 2:
            total, counted = total + theta, counted + 1
    return judged(theta.tolist(), test), judged((total / counted).tolist(), test)


def best(runs):
    """Of {step size: [((loss, accuracy) of the last, of the average)…]} the step sizes of least mean loss."""
    found = {}
    for at, kind in enumerate(("last", "average")):
        losses = {size: statistics.fmean(pair[at][0] for pair in pairs) for size, pairs in runs.items()}
        size = min(losses, key=losses.get)
        found[kind] = {"step_size": size, "loss": spread([pair[at][0] for pair in runs[size]]),
                       "accuracy": spread([pair[at][1] for pair in runs[size]])}
    return found


def compare(product, folder, settings, found):
    if not (here(found, "dp-accounting") and here(found, "numpy")):
        raise SystemExit("DP-SGD's accounting is dp-accounting's, and its loop numpy's; one of them is not here")
    train, test = people(settings["users"], 1), people(TEST_USERS, 2)
    stream = stream_of(train, 3)
    steps, sampled_steps, chance = len(stream), len(stream) // BATCH, BATCH / len(train)
    with open(folder / "clicks.csv", "w") as out:
        out.write(",".join(["who", *(f"w{word}" for word in range(WORDS)), "taken"]) + "\n")
        out.writelines(",".join([f"u{who}", *map(repr, row(words)), str(taken)]) + "\n" for who, words, taken in stream)
    seeds, sizes, budgets = range(1, settings["seeds"] + 1), settings["step_sizes"], []
    for epsilon in settings["epsilons"]:
        lines = []
        for name, noise in strategies(steps).items():
            runs = {size: [of_product(product, configure(folder, noise, epsilon, size, steps), seed, test)
                           for seed in seeds] for size in sizes}
            lines.append({"name": name, "peer": "nustream", **best(runs)})
        sigma = sigma_at(chance, sampled_steps, epsilon, DELTA)
        runs = {size: [of_dpsgd(train, test, sigma, size, sampled_steps, chance, seed) for seed in seeds] for size in sizes}
        lines.append({"name": "DP-SGD, users sampled", "peer": "dp-accounting", "noise_multiplier": sigma, **best(runs)})
        budgets.append({"epsilon": epsilon, "rows": lines})
        print(f"clicks: epsilon {epsilon:g} done", file=sys.stderr, flush=True)
    runs = {size: [of_dpsgd(train, test, 0.0, size, sampled_steps, chance, seed) for seed in seeds] for size in sizes}
    zero = judged([0.0] * (1 + WORDS), test)
    return {"benchmark": "compare, clicks", "peers": found, "delta": DELTA, "users": len(train), "records": steps,
            "participations": TIMES, "separation": APART, "clip_norm": CLIP, "step_sizes": list(sizes),
            "seeds": settings["seeds"], "test_users": TEST_USERS, "of_nothing": {"loss": zero[0]},
            "without_noise": best(runs), "budgets": budgets}


def shown(found):
    return f"{found['loss']['mean']:.4f} ({found['loss']['standard_error']:.1g}) | {100 * found['accuracy']['mean']:.1f}%"


def page(result):
    """What stands between the page's markers."""
    plain = result["without_noise"]["average"]
    lines = [f"{result['records']:,} records of {result['users']:,} users, once; a user takes part {result['participations']} "
             f"times, {result['separation']} steps apart; clip {result['clip_norm']:g}, zero-out, δ = {result['delta']:g}. Loss "
             f"and accuracy over {result['test_users']} other users, mean over {result['seeds']} seeds (standard error), step "
             f"size of {', '.join(f'{each:g}' for each in result['step_sizes'])} by the outcome. Without noise "
             f"{plain['loss']['mean']:.4f} and {100 * plain['accuracy']['mean']:.1f}%; of a model of zeros "
             f"{result['of_nothing']['loss']:.4f}. dp-accounting {result['peers']['dp-accounting']['version']}.", "",
             "| ε | noise | last iterate: loss | accuracy | average: loss | accuracy |", "|---|---|---|---|---|---|"]
    for budget in result["budgets"]:
        for each in budget["rows"]:
            name = each["name"] if each["peer"] != "nustream" else f"nustream: {each['name']}"
            lines.append(f"| {budget['epsilon']:g} | {name} | {shown(each['last'])} | {shown(each['average'])} |")
    return "\n".join(lines) + "\n"
