"""What `nustream fit` is compared with on a table: the best of 24 settings of full-batch private descent (DP-GD), and
the best of 24 settings of one release of sums, in numpy at the same ρ, zero-out, each chosen by its outcome on the very
rows. Columns are centred and scaled by the rows' own exact means and deviations, for free, which favours the grids."""

import itertools
import math

from .arrays import numpy
from . import private_sums

STEPS = (10, 40, 160)
STEP_SIZES = (0.5, 1.0)  # over the largest eigenvalue of the rows' own H
CLIPS = (0.25, 0.75, 2.0, 6.0)  # over √d; targets have deviation 1
ROW_NORMS = (1.0, 1.5, 2.0, 3.0, 5.0, 8.0)  # over √d
BOUNDS = (1.0, 2.0, 3.0, 5.0)  # of targets
CHUNK = 1 << 13  # rows
SETTINGS = {"descent": {"steps": STEPS, "step_size": STEP_SIZES, "clip_norm": CLIPS},
            "sums": {"row_norm": ROW_NORMS, "bound": BOUNDS}}


class DistinctRows:
    """The distinct rows of a table and how often each comes: a clipped gradient depends on its row alone, so that a step over
    a table of a few values takes a part of the time. Rows are in single precision, and sums in double."""

    def __init__(self, table):
        x, y = table.working
        both, counts = numpy.unique(numpy.column_stack([x, y]), axis=0, return_counts=True)
        x, y = both[:, :-1], both[:, -1:]
        lengths = numpy.linalg.norm(x, axis=1, keepdims=True)  # at least 1, by the intercept
        self.long = (x * lengths).astype(numpy.float32)
        self.target = (y * lengths).astype(numpy.float32)
        self.counted = (x / lengths * counts[:, None]).astype(numpy.float32)

    def gradients(self, theta, clip):
        """Σ clip(x·(xᵀθ − y)) for each column of theta."""
        total, single = numpy.zeros_like(theta), theta.astype(numpy.float32)
        for begin in range(0, len(self.long), CHUNK):
            part = slice(begin, begin + CHUNK)
            pull = self.long[part] @ single
            pull -= self.target[part]
            numpy.clip(pull, numpy.float32(-clip), numpy.float32(clip), out=pull)
            total += self.counted[part].T @ pull
        return total


def descent(rows, table, setting, rhos, keys):
    """θ after the last step, a column for each (ρ, key). Every step takes every record."""
    steps, step_size, clip = setting
    largest = float(numpy.linalg.eigvalsh(table.answers[-1][0])[-1])
    clip *= math.sqrt(table.d)
    deviations = numpy.repeat([clip * math.sqrt(steps / (2 * rho)) for rho in rhos], keys)
    draw = numpy.random.default_rng((steps, round(1000 * step_size), round(1000 * clip)))
    theta = numpy.zeros((table.d, len(deviations)))
    for _ in range(steps):
        noise = deviations * draw.standard_normal(theta.shape)
        theta = theta - step_size / (largest * len(table.y)) * (rows.gradients(theta, clip) + noise)
    return theta


def medians_of_descents(table, rhos, keys):
    """[{setting: median excess}] of each ρ."""
    rows, found = DistinctRows(table), [{} for _ in rhos]
    for setting in itertools.product(STEPS, STEP_SIZES, CLIPS):
        excess = [table.excess(theta) for theta in descent(rows, table, setting, rhos, keys).T]
        for at, values in enumerate(numpy.reshape(excess, (len(rhos), keys))):
            found[at][setting] = float(numpy.median(values))
    return found


def medians_of_sums(table, rhos, keys):
    found = [{} for _ in rhos]
    for setting in itertools.product(ROW_NORMS, BOUNDS):
        row_norm = setting[0] * math.sqrt(table.d)
        for at, rho in enumerate(rhos):
            table.rho = rho  # sums before noise do not depend on it, and are kept
            runs = [private_sums.running(private_sums.of_once, table, row_norm, setting[1], key) for key in range(1, keys + 1)]
            found[at][setting] = float(numpy.median([table.excess(run[-1]) for run in runs]))
    return found


def best(table, rhos, keys):
    """[{"descent": {"settings", "median"}, "sums": …}] of each ρ."""
    found = [{} for _ in rhos]
    for name, medians in (("descent", medians_of_descents(table, rhos, keys)), ("sums", medians_of_sums(table, rhos, keys))):
        for at, tried in enumerate(medians):
            chosen = min(tried, key=tried.get)
            found[at][name] = {"settings": dict(zip(SETTINGS[name], chosen)), "median": tried[chosen]}
    return found
