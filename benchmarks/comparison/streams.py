"""The streams on which accuracy is compared: rows in working coordinates, and settings that are the same for all."""

import csv
import gzip
import itertools
import math
import random
import statistics
from dataclasses import dataclass, field


@dataclass
class Stream:
    name: str
    loss: str
    rows: list  # rows [x…, y], or [x…] where the loss is the mean
    step_size: float
    clip_norm: float
    curvature: tuple  # a public guess: strong convexity and smoothness of the objective
    intercept: bool = False
    answer: list = None  # what the stream was made from, or the mean of all its rows; None where it has to be fitted
    about: str = ""
    columns: list = field(init=False)

    def __post_init__(self):
        names = [f"x{j}" for j in range(len(self.rows[0]))]
        self.columns = names if self.loss == "mean" else [*names[:-1], "y"]


DIMENSION = 10
TRUTH = [0.2 if j % 2 == 0 else -0.1 for j in range(DIMENSION)]


def mean(steps):
    draw = random.Random(2)
    centre = [0.1 * value for value in TRUTH]
    rows = [[m + draw.uniform(-0.3, 0.3) for m in centre] for _ in range(steps)]
    return Stream("mean", "mean", rows, 0.01, 1.0, (1.0, 1.0), answer=centre, about="synthetic, d = 10, bounded")


def linear(steps):
    draw = random.Random(3)
    rows = []
    for _ in range(steps):
        x = [draw.gauss(0, 1) for _ in range(DIMENSION)]
        rows.append([*x, sum(a * b for a, b in zip(x, TRUTH)) + 0.3 * draw.gauss(0, 1)])
    return Stream("linear", "linear", rows, 0.005, 3.0, (0.5, 1.0), answer=TRUTH, about="synthetic, d = 10, normal")


def logistic(steps):
    draw = random.Random(4)
    truth = [3 * value for value in TRUTH]
    rows = []
    for _ in range(steps):
        x = [draw.gauss(0, 1) for _ in range(DIMENSION)]
        chance = 1 / (1 + math.exp(-sum(a * b for a, b in zip(x, truth))))
        rows.append([*x, 1 if draw.random() < chance else 0])
    return Stream("logistic", "logistic", rows, 0.02, 2.0, (0.1, 0.25), answer=truth, about="synthetic, d = 10, normal")


def table(path, row_of, steps):
    """The first `steps` usable rows in the order of the file."""
    with gzip.open(path, "rt") as lines:
        usable = (row for row in map(row_of, csv.DictReader(lines)) if row is not None)
        return list(itertools.islice(usable, steps))


def quantity(root, steps):
    def row(line):
        value = float(line["quantity"])
        return [math.log(value) - 1.5] if value > 0 else None

    rows = table(root / "examples/retail/online_retail_events.csv.gz", row, steps)
    return Stream("quantity", "mean", rows, 0.01, 3.0, (1.0, 1.0), answer=[statistics.fmean(row[0] for row in rows)],
                  about="order lines in time order: the mean of log(quantity)")


def retail(root, steps):
    def row(line):
        price, quantity = float(line["unit_price"]), float(line["quantity"])
        return [math.log(price) - 0.7, math.log(quantity) - 1.5] if price > 0 and quantity > 0 else None

    rows = table(root / "examples/retail/online_retail_events.csv.gz", row, steps)
    return Stream("retail", "linear", rows, 0.002, 2.0, (0.5, 1.0), True,
                  about="order lines in time order: log(quantity) on log(unit_price)")


def bike(root, steps):
    def row(line):
        x = [(float(line[name]) - centre) / 0.2 for name, centre in (("temp", 0.5), ("hum", 0.6), ("windspeed", 0.2))]
        return [*x, math.log(float(line["cnt"])) - 4.5]

    rows = table(root / "tests/golden/data/bike_hour.csv.gz", row, steps)
    return Stream("bike", "linear", rows, 0.005, 3.0, (0.5, 1.0), True,
                  about="hours in time order: log(count) on temperature, humidity, wind")


def covtype(root, steps):
    scales = {"Elevation": (2750, 420), "Slope": (16, 8), "Horizontal_Distance_To_Hydrology": (230, 210),
              "Horizontal_Distance_To_Roadways": (1700, 1300), "Horizontal_Distance_To_Fire_Points": (1500, 1100)}

    def row(line):
        x = [(float(line[name]) - centre) / scale for name, (centre, scale) in scales.items()]
        return [*x, 1 if line["Cover_Type"] == "2" else 0]

    rows = table(root / "tests/golden/data/covtype.csv.gz", row, steps)
    return Stream("covtype", "logistic", rows, 0.02, 2.0, (0.1, 0.25), True,
                  about="file order: lodgepole pine or not on five distances and heights")


def all_of(root, steps):
    return [mean(steps), linear(steps), logistic(steps),
            *(make(root, steps) for make in (quantity, retail, bike, covtype))]
