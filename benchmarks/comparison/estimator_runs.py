"""nustream's own estimators on one table, as commands: a descent (with its own noise or with a strategy of jax-privacy),
running sums, and `fit`. Bounds, step size and stages are those of `nustream plan`, from public guesses alone: residual 1,
distance 1 and the table's eigenvalues. Only the step size of descents is then chosen by the outcome, of a few."""

import json
import re
import tempfile
from pathlib import Path

from .arrays import numpy
from .fits import square_root

SHARES = (0.125, 0.25, 0.5, 1.0, 2.0)  # of the step size that plan gives


def write_table(folder, table):
    header = ",".join([*table.columns, "y"])
    numpy.savetxt(folder / "table.csv", numpy.column_stack([table.features, table.y]), "%.9g", ",", header=header, comments="")


def configure(folder, table, sections):
    """`sections` are further lines by the name of their section."""
    text = ('[stream]\nname = "table"\ninput = "table.csv"\n[target]\ncolumn = "y"\n'
            f"center = {table.target[0]!r}\nscale = {table.target[1]!r}\n"
            + "".join(f'[[features]]\ncolumn = "{name}"\ncenter = {float(centre)!r}\nscale = {float(scale)!r}\n'
                      for name, (centre, scale) in table.columns.items()))
    common = {"model": 'loss = "linear"\n', "privacy": f"rho = {table.rho!r}\ndelta = 1e-6\n",
              "release": f"every = {table.every}\n",
              "plan": f"records = {len(table.y)}\nresidual = 1.0\ndistance = 1.0\n"
                      f"second_moment_eigenvalues = {table.eigenvalues or [1.0] * table.d}\n"}
    for name in {**common, **sections}:
        text += f"[{name}]\n{common.get(name, '')}{sections.get(name, '')}"
    path = Path(folder, "table.toml")
    path.write_text(text)
    return path


def planned(product, folder, table):
    """{estimator: {section.key: value}}, as `plan` prints its best settings."""
    best = product.plan(configure(folder, table, {"model": 'estimator = "auto"\n'}))["expected"]["best"]
    return {name: dict(re.findall(r"(\S+?)=(\[.*?\]|\S+)", told["settings"])) for name, told in best.items()}


def sections_of(settings):
    found = {}
    for key, value in settings.items():
        section, name = key.split(".")
        quoted = f'"{value}"' if value.isalpha() else value
        found[section] = found.get(section, "") + f"{name} = {quoted}\n"
    return found


def path_of(product, config, table, key):
    """θ of the quoted number at each checkpoint: the average where there is one yet."""
    by_step = {}
    for release in product.replay(config, "--insecure-seed", str(key)):
        by_step[release["position"]] = release["average"] or release["estimate"]
    return [table.from_original(by_step[step * table.every]) for step in table.steps]


def descent(product, folder, table, settings, keys, tried):
    """(settings, paths) at the step size of least median excess at the end over `tried` keys."""
    def at(share):
        chosen = {**settings, "descent.step_size": repr(share * float(settings["descent.step_size"]))}
        return chosen, configure(folder, table, sections_of(chosen))

    def median(share):
        config = at(share)[1]
        ends = [table.excess(path_of(product, config, table, key)[-1]) for key in range(1, tried + 1)]
        return float(numpy.median([end if numpy.isfinite(end) else numpy.inf for end in ends]))

    chosen, config = at(min(SHARES, key=median))
    return chosen, [path_of(product, config, table, key) for key in keys]


def foreign_descent(product, folder, table, settings, keys):
    """The same descent, with jax-privacy's optimal Toeplitz strategy for this number of steps."""
    steps = len(table.y)
    sections = sections_of({key: value for key, value in settings.items() if not key.startswith("noise.")})
    sections["noise"] = f'correlation = "strategy"\nhorizon = {steps}\nc = [{", ".join(map(repr, square_root(steps)))}]\n'
    config = configure(folder, table, sections)
    return [path_of(product, config, table, key) for key in keys]


def sums(product, folder, table, settings, keys):
    """Running sums for a known number of releases. Stages weigh as for a stationary stream where the table is one."""
    kept = {key: value for key, value in settings.items() if table.stationary or key != "moments.residual_variance"}
    sections = sections_of({**kept, "moments.releases": str(table.releases)})
    config = configure(folder, table, {**sections, "model": 'estimator = "moments"\n'})
    return kept, [path_of(product, config, table, key) for key in keys]


def fitted(product, folder, table, keys):
    found = []
    for key in keys:
        with tempfile.TemporaryDirectory(dir=folder) as run:
            told = product.run("fit", folder / "table.csv", "--target", "y", "--rho", table.rho, "--insecure-seed", key, "--json",
                               "--state", Path(run, "state"), "--key-directory", Path(run, "keys"), "--witness", "none")
        found.append([table.from_original(json.loads(told)["estimate"])])
    return found
