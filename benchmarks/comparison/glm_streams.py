"""The streams on which private curvature is compared with descent: rows in working coordinates, weights that shorten long
rows by their features alone, and what both methods may know in public."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .arrays import numpy
from . import linear_tables

ROOT = Path(__file__).resolve().parents[2]


@dataclass(eq=False)
class Counts:
    """A log-linear model of counts."""
    start: float  # of the intercept: the logarithm of a usual count
    curvature: float  # a public cap of φ''
    residual: float  # R_r

    def mean(self, score):
        return numpy.exp(numpy.minimum(score, 9.0))

    def bend(self, score):
        return numpy.minimum(self.mean(score), self.curvature)

    def loss(self, score, y):
        return self.mean(score) - y * score


@dataclass(eq=False)
class Chances:
    """A logistic model."""
    start: float = 0.0
    curvature: float = 0.25
    residual: float = 1.0

    def mean(self, score):
        return 1 / (1 + numpy.exp(-numpy.clip(score, -30, 30)))

    def bend(self, score):
        chance = self.mean(score)
        return chance * (1 - chance)

    def loss(self, score, y):
        return numpy.logaddexp(0, score) - y * score


@dataclass(eq=False)
class Stream:
    name: str
    about: str
    model: object
    x: numpy.ndarray
    y: numpy.ndarray
    step_sizes: tuple  # of the descent's grid
    clips: tuple

    def start(self):
        theta = numpy.zeros(self.x.shape[1])
        theta[0] = self.model.start
        return theta

    def loss(self, theta):
        return float(numpy.mean(self.model.loss(self.x @ theta, self.y)))

    def best(self):
        """The maximum of the likelihood of all rows, by Newton's method with halved steps."""
        theta = self.start()
        for _ in range(200):
            score = self.x @ theta
            gradient = self.x.T @ (self.model.mean(score) - self.y)
            step = numpy.linalg.solve(self.x.T @ (self.x * self.model.bend(score)[:, None]), gradient)
            while self.loss(theta - step) > self.loss(theta) + 1e-12 and numpy.abs(step).max() > 1e-12:
                step = step / 2
            theta = theta - step
            if numpy.abs(step).max() < 1e-9:
                break
        return theta


def covtype(rows):
    """Rows drawn with replacement from the file's, in no order: lodgepole pine or not on ten columns."""
    columns = {**linear_tables.covtype(ROOT).columns, "Horizontal_Distance_To_Fire_Points": (1500, 1100)}
    features, kind = linear_tables.read(ROOT / "tests/golden/data/covtype.csv.gz", columns, "Cover_Type", {})
    taken = numpy.random.default_rng(1).integers(0, len(kind), rows)
    return Stream("covtype", "logistic: lodgepole pine or not on ten columns, drawn from the file's rows", Chances(),
                  worked(columns, features[taken]), (kind[taken] == 2).astype(float),
                  (1e-3, 2e-3, 4e-3, 0.01), (2.0, 4.0, 8.0))


def bike(rows):
    table = linear_tables.bike(ROOT)
    columns = {name: at for name, at in table.columns.items() if name != "atemp"}
    features, counts = linear_tables.read(ROOT / "tests/golden/data/bike_hour.csv.gz", columns, "cnt", {})
    order = numpy.random.default_rng(1).permutation(len(counts))[:rows]
    return Stream("bike", "Poisson: rentals an hour on eleven columns, shuffled", Counts(5.0, 1_000.0, 500.0),
                  worked(columns, features[order]), counts[order],
                  (1e-6, 3e-6, 1e-5, 3e-5), (1_000.0, 3_000.0, 10_000.0))


def worked(columns, features):
    centres, scales = (numpy.array(each) for each in zip(*columns.values()))
    return numpy.column_stack([numpy.ones(len(features)), (features - centres) / scales])
