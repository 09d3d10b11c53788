"""Writes the results, and the part of docs/benchmarks.md that is made of them."""

import json
from pathlib import Path

from . import clicks, estimators, fit_tables, glm_curvature, images, report, tables

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/benchmarks.md"
RESULTS = ROOT / "docs/results"
BEGIN, END = "<!-- compare: begin -->\n", "<!-- compare: end -->\n"
# The name is that of the JSON and of the markers.
PARTS = {tables: "tables", images: "images", clicks: "clicks", estimators: "estimators", glm_curvature: "glm_curvature",
         fit_tables: "fits"}


def parts():
    """The parts of the page before, between and after the markers."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    made, _, after = rest.partition(END)
    return before, made, after


def part_of(part):
    """The page up to a part's first marker; what stands between the markers; and the page from the second one on."""
    begin, end = (f"<!-- {PARTS[part]}: {which} -->\n" for which in ("begin", "end"))
    before, _, rest = PAGE.read_text().partition(begin)
    made, _, after = rest.partition(end)
    return before + begin, made, end + after


def write_part(part, result, folder, program):
    """Writes compare_NAME.json, its chart if it has one and `program` is built, and its tables. These go into the page where
    `folder` is docs/results."""
    name = PARTS[part]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"compare_{name}.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    if result.get("charted"):
        (folder / f"compare_{name}.svg").write_text(part.chart(result, program))
    if folder != RESULTS:
        (folder / f"compare_{name}.md").write_text(part.page(result))
        return
    before, _, after = part_of(part)
    PAGE.write_text(before + part.page(result) + after)


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
