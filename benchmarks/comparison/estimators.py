"""Estimators of a linear model at one ρ, zero-out: private sums as one would write them by hand, DP-GD over the table, descents
over the stream, and nustream's running sums and `fit`. Each (table, method) is one row, which is kept: a comparison that was
stopped goes on where it was."""

import json
import math
import sys
import tempfile
from pathlib import Path

from .arrays import numpy
from . import estimator_runs, kept, linear_tables, private_sums, table_descent
from .estimators_page import NAMES, chart, page  # noqa: F401
from .peers import here

ROOT = Path(__file__).resolve().parents[2]
# Keys of each table, of each table of the grid, of the method that has a coefficient of noise for every step where there are
# many steps (it takes minutes a key), and of the choice of settings.
FULL = {"seeds": 50, "grid_seeds": 50, "long_strategy_seeds": 10, "tried": 5, "points": 24}
QUICK = {"seeds": 2, "grid_seeds": 2, "long_strategy_seeds": 2, "tried": 2, "points": 1}
MANY_STEPS = 50_000
DEAR = ("strategy", "DP-GD")  # run when everything else is done
SHORT = 4  # of the real tables
NOT_ASKED = ("data", "points", "only_kept")  # settings on which no row depends
PUBLISHED = ROOT / "docs/results/compare_estimators.json"
METHODS = tuple(NAMES)


def keys_of(settings, method, records, point):
    if method == "strategy" and records > MANY_STEPS:
        return settings["long_strategy_seeds"]
    return settings["grid_seeds" if point else "seeds"]


class Runner:
    """Runs methods on one table. What plan says and the tuned descent are needed by several of them."""

    def __init__(self, product, folder, table, settings):
        self.product, self.folder, self.table, self.settings = product, folder, table, settings
        estimator_runs.write_table(folder, table)
        self.plan = estimator_runs.planned(product, folder, table)
        bounds = self.plan["running sums"]
        self.bounds = float(bounds["moments.row_norm"]), float(bounds["moments.residual_bound"])

    def by_hand(self, method, one):
        return {"row_norm": self.bounds[0], "residual_bound": self.bounds[1]}, [one(key) for key in self.keys(method)]

    def keys(self, method):
        return range(1, keys_of(self.settings, method, len(self.table.y), self.table.point) + 1)

    def run(self, method, done):
        """(settings, [θ at the checkpoints] of each key); `done` has the rows of this table so far."""
        table, tried = self.table, self.settings["tried"]
        if method == "AdaSSP":
            return self.by_hand(method, lambda key: private_sums.adassp(table, *self.bounds, key))
        if method in ("SSP", "tree sums", "Toeplitz sums"):
            noise = {"SSP": private_sums.of_once, "tree sums": private_sums.of_tree,
                     "Toeplitz sums": private_sums.of_square_root}[method]
            return self.by_hand(method, lambda key: private_sums.running(noise, table, *self.bounds, key))
        if method == "DP-GD":
            clip = float(self.plan["the average"]["descent.clip_norm"])
            settings, thetas = table_descent.best(table, clip, self.keys(method), tried)
            return settings, [[theta] for theta in thetas]
        where = (self.product, self.folder, table)
        if method == "ν-FTRL":
            return estimator_runs.descent(*where, self.plan["the average"], self.keys(method), tried)
        if method == "strategy":
            settings = done["ν-FTRL"]["settings"]
            return settings, estimator_runs.foreign_descent(*where, settings, self.keys(method))
        if method == "fit":
            return {}, estimator_runs.fitted(*where, self.keys(method))
        recentred = "running sums, recentred" if method == "moments, recentred" else "running sums"
        return estimator_runs.sums(*where, self.plan[recentred], self.keys(method))


def told(values):
    values = numpy.array(values, dtype=float)
    error = float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else 0.0
    return {"mean": float(values.mean()), "standard_error": error, "median": float(numpy.median(values))}


def row_of(table, method, settings, paths):
    """The excess at each checkpoint, or at the end alone, and the error of the quoted coefficient at the end."""
    first = len(table.steps) - len(paths[0])
    about = {"about": table.about, "records": len(table.y), "dimension": table.d, "rho": table.rho, "every": table.every,
             "quoted": table.quoted, "point": table.point}
    found = {"table": table.name, "of": about, "method": method, "keys": len(paths), "settings": settings,
             "records": [step * table.every for step in table.steps[first:]],
             "excess": [told([table.excess(path[i], first + i) for path in paths]) for i in range(len(paths[0]))]}
    if table.quoted:
        found["quoted"] = told([table.off(path[-1]) for path in paths])
    return found


def published():
    """The rows of the last comparison that was published, which a new one need not measure again."""
    if not PUBLISHED.exists():
        return []
    found = json.loads(PUBLISHED.read_text())
    rows = []
    for table in [*found["tables"], *found["grid"]]:
        about = {key: value for key, value in table.items() if key not in ("table", "rows")}
        rows += [{"table": table["table"], "of": about, **row, "tried": found["settings"]["tried"]} for row in table["rows"]]
    return rows


class Kept:
    """Rows in a file of JSON lines, one for each (table, method). A row counts where it has the keys and the settings that
    are asked for."""

    def __init__(self, path, settings):
        self.path, self.settings = path, settings
        self.rows = published() if path else []
        if path and path.exists():
            self.rows += [json.loads(line) for line in path.read_text().splitlines()]

    def of(self, table):
        def counts(row):
            about = row["of"]
            keys = keys_of(self.settings, row["method"], about["records"], about["point"])
            return row["keys"] == keys and row["tried"] == self.settings["tried"]

        return {row["method"]: row for row in self.rows if row["table"] == table and counts(row)}

    def add(self, row):
        self.rows.append({**row, "tried": self.settings["tried"]})
        if self.path:
            with open(self.path, "a") as out:
                out.write(json.dumps(self.rows[-1], ensure_ascii=False) + "\n")


class Tables:
    """Makes a table when it is asked for, and runs on it what is not there yet."""

    def __init__(self, product, makers, settings, kept):
        self.product, self.makers, self.settings, self.kept = product, makers, settings, kept
        self.made = {}

    def of(self, name):
        """The last real tables are kept; those of the grid together would fill the memory."""
        if name not in self.made:
            made = self.makers[name]()
            if made.point:
                return made
            self.made[name] = made
        return self.made[name]

    def run(self, name, methods=METHODS):
        done = self.kept.of(name)
        if self.settings.get("only_kept"):
            return
        missing = sorted((method for method in methods if method not in done), key=lambda method: method in DEAR)
        if not missing:
            return
        table = self.of(name)
        with tempfile.TemporaryDirectory(prefix="nustream-compare-", dir="/dev/shm") as folder:
            runner = Runner(self.product, Path(folder), table, self.settings)
            for method in missing:
                self.kept.add(row_of(table, method, *runner.run(method, done)))
                done[method] = self.kept.rows[-1]
                print(f"estimators: {name}, {method} done", file=sys.stderr, flush=True)

    def told(self, name):
        """Its rows, in the order of METHODS."""
        done = self.kept.of(name)
        rows = [{key: value for key, value in done[method].items() if key not in ("tried", "of", "table")}
                for method in METHODS if method in done]
        return {"table": name, **next(iter(done.values()))["of"], "rows": rows}


def compare(product, folder, settings, found):
    if not here(found, "numpy"):
        raise SystemExit("estimators are compared with sums that numpy makes; it is not here")
    whole = settings["seeds"] >= FULL["seeds"]
    real, grid = linear_tables.real(ROOT, settings.get("data")), linear_tables.grid()
    names = list(real) if whole else list(real)[:2]
    points = list(grid)[:settings["points"]]
    tables = Tables(product, {**real, **grid}, settings, Kept(kept.file_of("estimators", whole), settings))
    short, long = names[:SHORT], names[SHORT:]
    for name in short:
        tables.run(name)
    half = len(grid) // 2  # of few records
    for name in points[:half]:
        tables.run(name)
    for name in long:
        tables.run(name, [method for method in METHODS if method not in DEAR])
    for name in points[half:]:
        tables.run(name)
    for name in long:  # hours
        tables.run(name)
    return {"benchmark": "compare, estimators", "peers": found, "adjacency": "zero-out",
            "error": "(θ − θ_ls)ᵀH(θ − θ_ls)/σ², θ_ls, H and σ² those of all records so far",
            "charted": product.draws(), "settings": {key: value for key, value in settings.items() if key not in NOT_ASKED},
            "tables": [tables.told(name) for name in names if tables.kept.of(name)],
            "grid": [tables.told(name) for name in points if len(tables.kept.of(name)) == len(METHODS)]}
