"""The tables and the chart of the comparison of estimators."""

import math

from . import report
from .numbers import number

OURS = ("ν-FTRL", "moments", "moments, recentred", "fit")
NAMES = {"SSP": "SSP, one release", "AdaSSP": "AdaSSP, one release", "tree sums": "sums by a tree (Honaker)",
         "Toeplitz sums": "sums by the Toeplitz square root", "DP-GD": "DP-GD over the table",
         "ν-FTRL": "nustream: descent, ν-FTRL", "strategy": "the same, jax-privacy's strategy", "moments": "nustream: moments",
         "moments, recentred": "nustream: moments, recentred", "fit": "nustream: `fit`"}


def shown(value):
    if not math.isfinite(value["mean"]):
        return "not finite"
    return f"{value['mean']:.2g} ({value['standard_error']:.1g})"


def at(row, records):
    found = [value for count, value in zip(row["records"], row["excess"]) if count == records]
    return shown(found[0]) if found else ""


def of_table(table):
    keys = sorted({row["keys"] for row in table["rows"]})
    few = [NAMES[row["method"]] for row in table["rows"] if row["keys"] < keys[-1]]
    looked = max((row["records"] for row in table["rows"]), key=len)
    first, half = looked[0], looked[len(looked) // 2 - 1]
    quoted = table["quoted"]
    lines = [f"**{table['table']}** ({table['about']}): {table['records']:,} records, d = {table['dimension']}, "
             f"ρ = {table['rho']:g}, releases every {table['every']:,} records, {keys[-1]} keys"
             + (f" ({keys[0]} for {', '.join(few)})" if few else "") + ".", "",
             f"| | after {first:,} | after {half:,} | at the end | median there | error of {quoted} |",
             "|---|---|---|---|---|---|"]
    for row in table["rows"]:
        lines.append(f"| {NAMES[row['method']]} | {at(row, first)} | {at(row, half)} | {shown(row['excess'][-1])} | "
                     f"{row['excess'][-1]['median']:.2g} | {shown(row['quoted'])} |")
    return "\n".join(lines)


def of_grid(points):
    methods = [name for name in NAMES if all(name in {row["method"] for row in each["rows"]} for each in points)]
    keys = max(row["keys"] for row in points[0]["rows"])
    lines = ["**Synthetic**: normal rows, the eigenvalues of E[xxᵀ] from 1 down to 1/condition, residuals of variance 1, an "
             f"answer of length 1; one table a point, {keys} keys. Median excess at the end in units of d/n, which is what "
             "sampling costs least squares itself.", "",
             "| d | n | ρ | condition | " + " | ".join(methods) + " |", "|" + "---|" * (4 + len(methods))]
    for each in points:
        point, unit = each["point"], each["point"]["d"] / each["point"]["n"]
        cells = [number(row["excess"][-1]["median"] / unit) for row in each["rows"] if row["method"] in methods]
        lines.append(f"| {point['d']} | {point['n']:,} | {point['rho']:g} | {point['condition']} | " + " | ".join(cells) + " |")
    ratios = []
    for method in methods:
        logs = []
        for each in points:
            medians = {row["method"]: row["excess"][-1]["median"] for row in each["rows"]}
            logs.append(math.log(medians[method] / min(medians[name] for name in methods)))
        ratios.append(number(math.exp(sum(logs) / len(logs))))
    lines.append("| over the least | | | (geometric mean) | " + " | ".join(f"×{each}" for each in ratios) + " |")
    return "\n".join(lines)


def page(result):
    """What stands between the page's markers."""
    peer = result["peers"]["jax-privacy"]
    parts = ["Mean excess (standard error): " + result["error"] + ". The last column is the distance of one coefficient from "
             "that of least squares over all records, in the units of the columns. "
             + (f"jax-privacy {peer['version']}." if "version" in peer else "jax-privacy's strategy by its formula.")]
    if result["charted"]:
        parts.append("![estimators](results/compare_estimators.svg)")
    parts += [of_table(table) for table in result["tables"]]
    if result["grid"]:
        parts.append(of_grid(result["grid"]))
    return "\n\n".join(parts) + "\n"


def hue_of(row):
    return report.OURS if row["method"] in OURS else report.PRIVATE


def chart(result, program):
    """The SVG of the excess at the end, table by table."""
    groups = [(table["table"], [{"label": NAMES[row["method"]], "value": row["excess"][-1]["mean"], "hue": hue_of(row),
                                 "error": row["excess"][-1]["standard_error"], "shown": number(row["excess"][-1]["mean"])}
                                for row in table["rows"] if math.isfinite(row["excess"][-1]["mean"])])
              for table in result["tables"]]
    return report.draw(program, "Least squares at one ρ: what is lost at the end", "excess of the mean squared error over σ², "
                       "logarithmic", groups, [(report.OURS, "nustream"), (report.PRIVATE, "others")])
