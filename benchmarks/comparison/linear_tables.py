"""The tables on which estimators of a linear model are compared: rows, public centres and scales, and the public guesses
from which `nustream plan` makes the settings of everybody. Rows are read in the order of the file, or shuffled."""

from __future__ import annotations

import csv
import gzip
import math
from dataclasses import dataclass, field
from functools import cached_property

from .arrays import numpy

CHECKPOINTS = 10


@dataclass(eq=False)
class LinearTable:
    name: str
    about: str
    columns: dict  # {name of a feature: (centre, scale)}, public
    target: tuple  # (centre, scale), public
    features: numpy.ndarray  # n × columns, after public maps such as a logarithm
    y: numpy.ndarray  # n
    rho: float
    every: int
    quoted: str = None  # the coefficient whose error is shown beside the excess
    eigenvalues: list = None  # a public guess of those of E[xxᵀ] in working coordinates; 1 each where None
    stationary: bool = False  # known to be so
    point: dict = field(default_factory=dict)  # of the synthetic grid

    def __post_init__(self):
        whole = len(self.y) // self.every * self.every  # a step is a whole batch, for everybody
        self.features, self.y = self.features[:whole], self.y[:whole]

    @property
    def d(self):
        return 1 + len(self.columns)

    @property
    def releases(self):
        return len(self.y) // self.every

    @cached_property
    def working(self):
        """(x, y): n × d with the intercept's 1 first, and n."""
        centres, scales = (numpy.array(each) for each in zip(*self.columns.values()))
        x = numpy.column_stack([numpy.ones(len(self.y)), (self.features - centres) / scales])
        return x, (self.y - self.target[0]) / self.target[1]

    @cached_property
    def steps(self):
        """The releases at which everybody is looked at: ten, the last one among them."""
        return [max(1, round(self.releases * (i + 1) / CHECKPOINTS)) for i in range(CHECKPOINTS)]

    @cached_property
    def answers(self):
        """(H, least squares, mean squared residual) of the rows up to each of `steps`."""
        x, y = self.working
        found = []
        for step in self.steps:
            part, of_part = x[:step * self.every], y[:step * self.every]
            theta = numpy.linalg.lstsq(part, of_part, rcond=None)[0]
            found.append((part.T @ part / len(part), theta, float(numpy.mean((of_part - part @ theta) ** 2))))
        return found

    def excess(self, theta, at=-1):
        """(θ − θ_ls)ᵀH(θ − θ_ls)/σ² over the rows so far; θ in working coordinates."""
        h, best, variance = self.answers[at]
        off = numpy.asarray(theta) - best
        return float(off @ h @ off) / variance

    def off(self, theta):
        """How far the quoted coefficient is from that of least squares, in the units of the columns."""
        j = 1 + list(self.columns).index(self.quoted)
        return abs(float(theta[j] - self.answers[-1][1][j])) * self.target[1] / self.columns[self.quoted][1]

    def from_original(self, coefficients):
        """Coefficients by name, in the units of the columns, as θ in working coordinates."""
        slopes = [coefficients[name] for name in self.columns]
        at_centre = coefficients["intercept"] + sum(b * c for b, (c, _) in zip(slopes, self.columns.values()))
        return numpy.array([(at_centre - self.target[0]) / self.target[1],
                            *(b * s / self.target[1] for b, (_, s) in zip(slopes, self.columns.values()))])

    def shuffled(self, name):
        order = numpy.random.default_rng(1).permutation(len(self.y))
        return LinearTable(name, self.about.replace("in time order", "shuffled"), self.columns, self.target,
                           self.features[order], self.y[order], self.rho, self.every, self.quoted, self.eigenvalues)


def read(path, columns, target, maps, usable=lambda values: True):
    """(features, y) of the rows of a CSV file; `maps` are functions of a field by column, and unusable rows are left out by
    the fields of [*columns, target]."""
    opened = gzip.open(path, "rt") if str(path).endswith(".gz") else open(path)
    with opened as lines:
        fields = csv.reader(lines)
        header = next(fields)
        at = [(header.index(name), maps.get(name, float)) for name in (*columns, target)]
        rows = [[of(line[i]) for i, of in at] for line in fields if usable([line[i] for i, _ in at])]
    table = numpy.array(rows)
    return table[:, :-1], table[:, -1]


def log(text):
    return math.log(float(text))


def ranges(**columns):
    """Centre and scale by the public range of a column, as if it were uniform there."""
    return {name: ((low + high) / 2, (high - low) / math.sqrt(12)) for name, (low, high) in columns.items()}


def retail(root):
    columns, target = {"unit_price": (0.7, 1.0)}, (1.5, 1.0)
    rows = read(root / "examples/retail/online_retail_events.csv.gz", columns, "quantity",
                {"unit_price": log, "quantity": log}, lambda fields: all(float(field) > 0 for field in fields))
    return LinearTable("retail", "order lines in time order: log(quantity) on log(unit_price)", columns, target, *rows, 0.1,
                       1_000, "unit_price")


def bike(root):
    columns = ranges(season=(1, 4), yr=(0, 1), mnth=(1, 12), hr=(0, 23), holiday=(0, 1), weekday=(0, 6), workingday=(0, 1),
                     weathersit=(1, 4), temp=(0, 1), atemp=(0, 1), hum=(0, 1), windspeed=(0, 1))
    rows = read(root / "tests/golden/data/bike_hour.csv.gz", columns, "cnt", {"cnt": log})
    return LinearTable("bike", "hours in time order: log(count) on twelve columns", columns, (4.0, 1.5), *rows, 0.1, 173, "temp")


def covtype(root):
    columns = {"Elevation": (2750, 420), "Aspect": (180, 104), "Slope": (16, 8), "Horizontal_Distance_To_Hydrology": (230, 210),
               "Vertical_Distance_To_Hydrology": (50, 60), "Horizontal_Distance_To_Roadways": (1700, 1300),
               "Hillshade_9am": (220, 30), "Hillshade_Noon": (220, 30), "Hillshade_3pm": (140, 40)}
    rows = read(root / "tests/golden/data/covtype.csv.gz", columns, "Horizontal_Distance_To_Fire_Points", {})
    return LinearTable("covtype", "file order: distance to fire points on nine columns", columns, (1500, 1100), *rows, 0.1, 151,
                       "Elevation")


def fertility(folder):
    columns = ranges(morekids=(0, 1), age=(21, 35), black=(0, 1), hisp=(0, 1), other=(0, 1))
    rows = read(folder / "fertility_254654.csv.gz", columns, "weeks", {})
    return LinearTable("fertility", "Angrist and Evans: weeks worked on a third child, age and origin, least squares", columns,
                       (26, 15), *rows, 0.1, 2_500, "morekids")


def card(folder):
    columns = {"educ": (13, 3), "fatheduc": (10, 4), "motheduc": (10, 4), "nearc4": (0.5, 0.5)}
    rows = read(folder / "card_complete_2191.csv", columns, "lwage", {})
    return LinearTable("Card", "log wages on schooling, the parents' schooling and a nearby college, least squares", columns,
                       (6, 0.5), *rows, 1.0, 21, "educ")


def synthetic(number, d, n, rho, condition):
    """Normal rows beside the intercept. Eigenvalues of E[xxᵀ] fall from 1 to 1/condition in equal ratios, residuals have
    variance 1, and the answer has length 1 in a random direction."""
    draw = numpy.random.default_rng(number)
    values = [condition ** (-j / (d - 1)) for j in range(d)]
    theta = draw.standard_normal(d)
    theta /= numpy.linalg.norm(theta)
    features = draw.standard_normal((n, d - 1)) * numpy.sqrt(values[1:])
    y = theta[0] + features @ theta[1:] + draw.standard_normal(n)
    point = {"d": d, "n": n, "rho": rho, "condition": condition}
    return LinearTable(name_of(d, n, rho, condition), "normal rows",
                       {f"x{j}": (0.0, 1.0) for j in range(1, d)}, (0.0, 1.0), features, y, rho, n // 100, None, values, True,
                       point)


def grid():
    """{name: what makes the table} of 24 points, the short ones first."""
    points = [(d, n, rho, condition) for n in (20_000, 100_000) for d in (4, 16) for rho in (0.1, 1.0)
              for condition in (1, 10, 100)]
    return {name_of(*point): lambda number=number, point=point: synthetic(number, *point)
            for number, point in enumerate(points, 1)}


def name_of(d, n, rho, condition):
    return f"d = {d}, n = {n}, ρ = {rho:g}, condition {condition:g}"


def real(root, folder):
    """{name: what makes the table}, the short ones first. `folder` holds the two tables that the repository does not ship,
    or is None."""
    made = {"bike": lambda: bike(root), "bike, shuffled": lambda: bike(root).shuffled("bike, shuffled"),
            "covtype": lambda: covtype(root), "Card": lambda: card(folder), "retail": lambda: retail(root),
            "fertility": lambda: fertility(folder)}
    return {name: make for name, make in made.items() if folder is not None or name not in ("Card", "fertility")}
