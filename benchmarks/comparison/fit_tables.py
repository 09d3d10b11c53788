"""`nustream fit` on public tables, with one command line each, beside the best of two grids of 24 settings that are chosen on the
same rows at the same ρ (fit_grids). The bar: at ρ = .1 and 1 the median excess of `fit` over 20 keys is at most twice that of
the better grid plus .01, and at ρ = .01 plus .07.

Targets and features were chosen by names and descriptions, before any fit. Every measured cell is kept, so that a comparison that
was stopped goes on where it was; those of `fit` are kept for the program that made them."""

import csv
import hashlib
import json
import math
import re
import statistics
import sys
import tempfile
from pathlib import Path

from .arrays import numpy
from . import fit_grids, kept, public_tables
from .fit_tables_page import page  # noqa: F401
from .linear_tables import LinearTable
from .peers import here

FULL = {"seeds": 20, "grid_keys": 10, "rhos": (0.01, 0.1, 1.0)}
QUICK = {"seeds": 2, "grid_keys": 2, "rhos": (1.0,)}
OF_QUICK = ("covtype",)
SLACK = {0.01: 0.07, 0.1: 0.01, 1.0: 0.01}
FACTOR, ENOUGH, ROWS = 2, 10, 15_000
COMMANDS = {  # target and features, as on the command line
    "retail": ("log(quantity)", "log(unit_price)"),
    "bike": ("log(cnt)", "season,yr,mnth,hr,holiday,weekday,workingday,weathersit,temp,atemp,hum,windspeed"),
    "covtype": ("Horizontal_Distance_To_Fire_Points",
                "Elevation,Aspect,Slope,Horizontal_Distance_To_Hydrology,Vertical_Distance_To_Hydrology,"
                "Horizontal_Distance_To_Roadways,Hillshade_9am,Hillshade_Noon,Hillshade_3pm"),
    "fertility": ("weeks", "morekids,age,black,hisp,other"),
    "diamonds": ("log(price)", "log(carat),depth,table,cut=Ideal,cut=Premium,color=D,color=G,clarity=SI2,clarity=VS1"),
    "movies": ("rating", "year,length,log(votes),Action,Comedy,Drama,Documentary,Romance,Short"),
    "baseball": ("r", "g,ab,h,X2b,X3b,hr,bb"),
    "HI": ("whrswk", "hhi=yes,experience,kidslt6,kids618,husby,race=white"),
    "VietNamI": ("pharvis", "lnhhexp,age,sex=male,married,educ,illness,injury,illdays,actdays,insurance"),
    "BudgetFood": ("wfood", "log(totexp),age,size,town,sex=man"),
    "DoctorContacts": ("mdu", "lc,lpi,fmde,physlim=TRUE,ndisease,health=good,linc,lfam,educdec,age,sex=male,child=TRUE,"
                              "black=TRUE"),
    "Vocab": ("vocabulary", "year,education,sex=Female"),
    "rwm5yr": ("docvis", "age,outwork,female,married,kids,hhninc,educ,self"),
    "InstEval": ("y", "studage,lectage,service"),
    "flights": ("arr_delay", "dep_delay,distance,hour,month,origin=JFK,origin=LGA"),
    "census2000": ("lweekinc", "educ,exper,expersq"),
    "countymurders": ("murdrate", "log(density),percblack,percmale,perc1019,perc2029,log(rpcpersinc)"),
}


class FitTable(LinearTable):
    """Rows that are looked at once, at the end."""

    steps = (1,)


def value_of(name, header):
    """(position, function of the field) of a column, a logarithm of one, or an indicator of a text."""
    if name in header:
        return header.index(name), float
    logarithm = re.fullmatch(r"log\((.+)\)", name)
    if logarithm:
        return header.index(logarithm[1]), lambda field: math.log(float(field))
    column, _, text = name.partition("=")
    return header.index(column), lambda field: float(field == text)


def read(path, target, features):
    """(features, targets) of the rows of which every field can be used."""
    lines = csv.reader(public_tables.text_of(path))
    header = next(lines)
    wanted = [value_of(name, header) for name in (*features, target)]
    rows = []
    for line in lines:
        try:
            rows.append([of(line[at]) for at, of in wanted])
        except (ValueError, IndexError):  # such as NA, an empty field or the logarithm of 0
            continue
    table = numpy.array(rows)
    table = table[numpy.isfinite(table).all(axis=1)]
    return table[:, :-1], table[:, -1]


def made(name, path):
    """The table in its own exact means and deviations."""
    target, features = COMMANDS[name]
    features = features.split(",")
    x, y = read(path, target, features)
    scales = [float(scale) or 1.0 for scale in x.std(axis=0)]
    columns = dict(zip(features, zip(map(float, x.mean(axis=0)), scales)))
    return FitTable(name, "", columns, (float(y.mean()), float(y.std())), x, y, 1.0, len(y))


def excesses(product, folder, table, path, rho, seeds):
    """The excess of each key. A fit that stops without an answer counts as infinitely far, and is written as None."""
    target, features = COMMANDS[table.name]
    found = []
    for key in range(1, seeds + 1):
        with tempfile.TemporaryDirectory(dir=folder) as run:
            try:
                told = json.loads(product.run("fit", path, "--target", target, "--features", features, "--rho", rho, "--json",
                                              "--insecure-seed", key, "--state", Path(run, "state"), "--key-directory",
                                              Path(run, "keys"), "--witness", "none"))
            except SystemExit as stopped:
                print(f"fits: {table.name}, rho {rho:g}, key {key}: {stopped}", file=sys.stderr, flush=True)
                found.append(None)
                continue
        zeros = dict.fromkeys(table.columns, 0.0)  # a column that the fit left out
        found.append(table.excess(table.from_original({**zeros, **told["estimate"]})))
    return found


class Kept:
    """Cells in a file of JSON lines, by what they were asked for. Without a file they are kept in memory."""

    def __init__(self, path):
        self.path = path
        lines = path.read_text().splitlines() if path and path.exists() else []
        self.cells = {cell["asked"]: cell["found"] for cell in map(json.loads, lines)}

    def of(self, asked, measure):
        asked = json.dumps(asked, ensure_ascii=False)
        if asked not in self.cells:
            self.cells[asked] = json.loads(json.dumps(measure()))
            if self.path:
                with open(self.path, "a") as out:
                    out.write(json.dumps({"asked": asked, "found": self.cells[asked]}, ensure_ascii=False) + "\n")
        return self.cells[asked]


def verdict(rho, excess, grids):
    """One row of the result. Medians and largest values are None where they are infinite."""
    values = sorted(math.inf if value is None else value for value in excess)
    median, least = float(statistics.median(values)), min(grid["median"] for grid in grids.values())
    bar = FACTOR * least + SLACK[rho]
    return {"rho": rho, "median": median if math.isfinite(median) else None,
            "worst": values[-1] if math.isfinite(values[-1]) else None, "stopped": excess.count(None), **grids, "bar": bar,
            "met": median <= bar, "excess": excess}


def of_table(product, folder, name, path, settings, cells, program):
    target, features = COMMANDS[name]
    rhos, table = list(settings["rhos"]), []

    def whole():
        """The table is read when a cell of it is missing, once."""
        if not table:
            table.append(made(name, path))
        return table[0]

    def grids():
        return {"records": len(whole().y), "best": fit_grids.best(whole(), rhos, settings["grid_keys"])}

    found = cells.of(["grids", name, target, features, rhos, settings["grid_keys"], fit_grids.SETTINGS], grids)
    print(f"fits: {name}, grids done", file=sys.stderr, flush=True)
    rows = []
    for rho, best in zip(rhos, found["best"]):
        excess = cells.of(["fit", program, name, target, features, rho, settings["seeds"]],
                         lambda rho=rho: excesses(product, folder, whole(), path, rho, settings["seeds"]))
        rows.append(verdict(rho, excess, best))
    print(f"fits: {name} done, bars met: {[row['met'] for row in rows]}", file=sys.stderr, flush=True)
    return {"table": name, "origin": public_tables.SOURCES[name].origin, "records": found["records"],
            "dimension": 1 + len(features.split(",")), "target": target, "features": features, "rows": rows}


def find(data, quick):
    """The tables that can be had, as `peers` of the comparison: a comparison that lacks one does not become the page."""
    paths, missing = public_tables.find(OF_QUICK if quick else COMMANDS, data, not quick)
    return paths, {f"table {name}": {"skipped": reason} for name, reason in missing.items()}


def compare(product, folder, settings, found):
    if not here(found, "numpy"):
        raise SystemExit("the grids are numpy's; it is not here")
    cells = Kept(kept.file_of("fits", settings["seeds"] >= FULL["seeds"]))
    program = hashlib.sha256(product.command.read_bytes()).hexdigest()[:16]
    tables = [of_table(product, folder, name, path, settings, cells, program) for name, path in settings["paths"].items()]
    return {"benchmark": "compare, fits", "peers": found, "adjacency": "zero-out",
            "error": "(θ − θ_ls)ᵀH(θ − θ_ls)/σ², θ_ls, H and σ² those of all usable records, with the intercept",
            "settings": {key: value for key, value in settings.items() if key != "paths"}, "grids": fit_grids.SETTINGS,
            "enough": sum(table["records"] >= ROWS for table in tables) >= ENOUGH, "tables": tables}


def missed(result):
    """What is said of the bars that are not met, or nothing."""
    said = [f"{table['table']} at ρ = {row['rho']:g}" for table in result["tables"] for row in table["rows"] if not row["met"]]
    if not result["enough"]:
        said.append(f"fewer than {ENOUGH} tables of {ROWS:,} records")
    return said
