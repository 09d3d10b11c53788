"""Measures a whole stream from its bytes: parsing, one gradient step for each row, and a model at the end."""

from itertools import islice

from . import rows
from .peers import here
from .timing import measure, timed

CHUNK = 10_000
OURS = "nustream replay, CSV"


def nustream(product, folder, name, source, count, header=True):
    config = rows.config(folder, source, header)
    return timed(name, count, lambda: product.replay(config), peer="nustream", private=True,
                 note="the command, from its start to its end: a release every 1,000 rows, commits")


def vowpal(name, arguments, count, note):
    import vowpalwabbit

    def work():
        vowpalwabbit.Workspace(f"{arguments} --quiet --noconstant --sgd --power_t 0 -l {rows.STEP_SIZE}").finish()

    return timed(name, count, work, peer="vowpalwabbit", private=False, note=note)


def vowpal_cases(folder, count):
    text, cache = folder / "rows.vw", folder / "rows.cache"
    return [vowpal("vw, its text", f"-d {text}", count, "its C++ driver, one pass of plain SGD"),
            vowpal("vw, its text, gzip", f"-d {text}.gz --compressed", count, "the same from gzip"),
            vowpal("vw, its binary cache", f"-d {text} --cache_file {cache}", count,
                   "parsed once before, in the warm-up; hashed features, 32-bit floats")]


def scikit_learn(folder, count):
    import numpy
    from sklearn.linear_model import SGDRegressor

    def work():
        model = SGDRegressor(penalty=None, learning_rate="constant", eta0=rows.STEP_SIZE, fit_intercept=False)
        with open(folder / "rows.csv") as lines:
            next(lines)
            while chunk := list(islice(lines, CHUNK)):
                table = numpy.loadtxt(chunk, delimiter=",", ndmin=2)
                model.partial_fit(table[:, :-1], table[:, -1])

    return timed("scikit-learn, CSV", count, work, peer="scikit-learn", private=False,
                 note="numpy.loadtxt and SGDRegressor.partial_fit in chunks of 10,000")


def river(folder, sample):
    from river import linear_model, optim, stream

    floats = {name: float for name in [*(f"x{j}" for j in range(rows.FEATURES)), "y"]}

    def work():
        model = linear_model.LinearRegression(optimizer=optim.SGD(rows.STEP_SIZE), intercept_lr=0)
        for x, y in stream.iter_csv(str(folder / "sample.csv"), target="y", converters=floats):
            model.learn_one(x, y)

    return timed("river, CSV", sample, work, peer="river", private=False,
                 note=f"learn_one on the first {sample:,} rows alone; time per row is what is compared")


def section(product, found, folder, settings):
    count = settings["rows"]
    sample = rows.write(folder, count)
    rows.segment(product, folder)
    cases = [nustream(product, folder, OURS, "rows.csv", count),
             nustream(product, folder, "nustream replay, CSV, gzip", "rows.csv.gz", count),
             nustream(product, folder, "nustream replay, recorded segment", "rows.segment", count, header=False)]
    if here(found, "vowpalwabbit"):
        cases += vowpal_cases(folder, count)
    if here(found, "scikit-learn") and here(found, "numpy"):
        cases.append(scikit_learn(folder, count))
    if here(found, "river"):
        cases.append(river(folder, sample))
    return [{"name": "replay", "title": f"A stream of {count:,} rows of 10 features and a target", "unit": "row",
             "baseline": OURS, "rows": measure(cases, settings["rounds"], OURS)}]
