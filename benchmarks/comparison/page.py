"""Writes the results, and the part of docs/benchmarks.md that is made of them."""

import json
from pathlib import Path

from . import report, tables

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/benchmarks.md"
RESULTS = ROOT / "docs/results"
BEGIN, END = "<!-- compare: begin -->\n", "<!-- compare: end -->\n"
TABLES_BEGIN, TABLES_END = "<!-- tables: begin -->\n", "<!-- tables: end -->\n"


def parts():
    """The parts of the page before, between and after the markers."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    made, _, after = rest.partition(END)
    return before, made, after


def tables_part():
    """The same of the comparison of tables."""
    before, _, rest = PAGE.read_text().partition(TABLES_BEGIN)
    made, _, after = rest.partition(TABLES_END)
    return before, made, after


def write_tables(result, folder):
    """compare_tables.json, and the tables: into the page where `folder` is docs/results."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "compare_tables.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    if folder != RESULTS:
        (folder / "compare_tables.md").write_text(tables.page(result))
        return
    before, _, after = tables_part()
    PAGE.write_text(before + TABLES_BEGIN + tables.page(result) + TABLES_END + after)


def lacking(found):
    """The peers that are not installed. Without any of them a run does not become the page."""
    return [name for name, told in found.items() if "version" not in told]


def folder_of(out, quick, found):
    """The folder of the results: the one that was asked for, or else docs/results for a whole comparison and a folder
    of the build for any other."""
    if out is not None:
        return out
    if quick:
        return ROOT / "build/compare/quick"
    return ROOT / "build/compare" if lacking(found) else RESULTS


def write(result, folder, build):
    """Writes compare.json, the charts and the tables. The tables go into the page where `folder` is docs/results, and
    into compare.md otherwise."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "compare.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    report.charts(result, folder, build / "benchmarks/draw_chart")
    if folder != RESULTS:
        (folder / "compare.md").write_text(report.page(result, ""))
        return
    before, _, after = parts()
    PAGE.write_text(before + BEGIN + report.page(result, "results/") + END + after)
