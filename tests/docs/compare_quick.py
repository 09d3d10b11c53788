#!/usr/bin/env python3
"""benchmarks/compare at tiny counts, without network: it runs with whatever peers are here, and its JSON, its tables and
its charts are whole. docs/benchmarks.md says what docs/results/compare.json says, and only a comparison with every peer
may write there. Usage: compare_quick.py ROOT BUILD"""

import json
import math
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

root, build = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(root / "benchmarks"))
from comparison import clicks, estimators, fit_tables, glm_curvature, images, page, report, tables  # noqa: E402


def positive(value, what):
    assert isinstance(value, (int, float)) and math.isfinite(value) and value > 0, f"{what} is {value}"


def check_sections(sections):
    names = [section["name"] for section in sections]
    expected = ["replay", *(f"{kind}, d = {d}" for kind in ("step loop", "noise") for d in (10, 128, 1000))]
    assert names == expected, names
    for section in sections:
        rows = {row["name"]: row for row in section["rows"]}
        assert len(rows) == len(section["rows"]), f"{section['name']}: a name comes twice"
        assert rows[section["baseline"]]["ratio_min"] == rows[section["baseline"]]["ratio_median"] == 1
        assert sum(row["peer"] == "nustream" for row in rows.values()) >= 2, section["name"]
        for name, row in rows.items():
            assert isinstance(row["private"], bool) and row["note"], name
            for key in ("nanoseconds_min", "nanoseconds_median", "ratio_min", "ratio_median"):
                positive(row[key], f"{section['name']}, {name}: {key}")


def check_accuracy(streams):
    assert [stream["stream"] for stream in streams] == ["mean", "linear", "logistic", "quantity", "retail", "bike",
                                                         "covtype"]
    for stream in streams:
        rows = {row["strategy"]: row for row in stream["strategies"]}
        assert rows["independent"]["iterate"]["ratio"] == 1 and len(rows) == 5, list(rows)
        for key in ("suggested_nu", "suggested_nu_of_last"):
            positive(stream[key], f"{stream['stream']}: {key}")
        for name, row in rows.items():
            positive(row["sensitivity"], name)
            for kind in ("iterate", "average"):
                for key in ("mean", "standard_error", "ratio"):
                    positive(row[kind][key], f"{stream['stream']}, {name}: {kind} {key}")
        assert 1 <= rows["independent"]["sensitivity"] < 1 + 1e-12  # an upper bound, rounded outward


def check_page():
    made = page.parts()[1]
    measured = json.loads((page.RESULTS / "compare.json").read_text())
    assert made.endswith(report.page(measured, "results/")), "docs/benchmarks.md is not that of docs/results/compare.json"
    assert not page.lacking(measured["peers"]), measured["peers"]


def check_tables():
    """The page's tables are those of docs/results/compare_tables.json, which has every peer; each table has six contenders."""
    measured = json.loads((page.RESULTS / "compare_tables.json").read_text())
    assert page.part_of(tables)[1] == tables.page(measured), "docs/benchmarks.md is not that of compare_tables.json"
    assert not page.lacking(measured["peers"]), measured["peers"]
    assert [each["table"] for each in measured["tables"]] == list(tables.TABLES)
    for table in measured["tables"]:
        rows = {row["name"]: row["distance"] for row in table["rows"]}
        assert len(rows) == 6, list(rows)
        # With every record in every step DP-SGD is nustream's mechanism: they may differ by five standard errors.
        ours, theirs = rows["all records a step"], rows["DP-SGD, each record with chance 1"]
        apart = math.hypot(ours["standard_error"], theirs["standard_error"])
        assert abs(ours["mean"] - theirs["mean"]) < 5 * apart, table["table"]


def check_figure_4():
    """The parts of the page on images and on users are those of their JSON, which has every peer and every budget."""
    for part, name in ((images, "images"), (clicks, "clicks")):
        measured = json.loads((page.RESULTS / f"compare_{name}.json").read_text())
        assert page.part_of(part)[1] == part.page(measured), f"docs/benchmarks.md is not that of compare_{name}.json"
        assert not page.lacking(measured["peers"]), measured["peers"]
        assert [each["epsilon"] for each in measured["budgets"]] == list(part.FULL["epsilons"])
        assert all(len(each["rows"]) == 6 for each in measured["budgets"])


def check_estimators():
    """Every table has its methods, and the page is that of its JSON."""
    measured = json.loads((page.RESULTS / "compare_estimators.json").read_text())
    assert page.part_of(estimators)[1] == estimators.page(measured), "docs/benchmarks.md is not that of compare_estimators.json"
    assert not page.lacking(measured["peers"]), measured["peers"]
    for table in [*measured["tables"], *measured["grid"]]:
        methods = [row["method"] for row in table["rows"]]
        assert methods == [each for each in estimators.METHODS if each in methods], table["table"]
        assert {"SSP", "Toeplitz sums", "ν-FTRL", "moments", "moments, recentred", "fit"} <= set(methods), table["table"]
        for row in table["rows"]:
            assert len(row["excess"]) == len(row["records"]), row["method"]
            positive(row["excess"][-1]["median"], f"{table['table']}, {row['method']}")


def check_curvature():
    measured = json.loads((page.RESULTS / "compare_glm_curvature.json").read_text())
    assert page.part_of(glm_curvature)[1] == glm_curvature.page(measured), "docs/benchmarks.md is not that of its JSON"
    assert [each["rho"] for stream in measured["streams"] for each in stream["budgets"]] == list(glm_curvature.FULL["rhos"]) * 2


def check_fits():
    """The page is that of its JSON, which has every table, budget and key; each verdict follows from the figures beside it."""
    measured = json.loads((page.RESULTS / "compare_fits.json").read_text())
    assert page.part_of(fit_tables)[1] == fit_tables.page(measured), "docs/benchmarks.md is not that of compare_fits.json"
    assert not page.lacking(measured["peers"]), measured["peers"]
    assert [each["table"] for each in measured["tables"]] == list(fit_tables.COMMANDS) and measured["enough"]
    for table in measured["tables"]:
        assert (fit_tables.COMMANDS[table["table"]]) == (table["target"], table["features"]), table["table"]
        assert [row["rho"] for row in table["rows"]] == list(fit_tables.FULL["rhos"])
        for row in table["rows"]:
            assert len(row["excess"]) == fit_tables.FULL["seeds"]
            grids = {name: row[name] for name in ("descent", "sums")}
            assert row == fit_tables.verdict(row["rho"], row["excess"], grids), f"{table['table']}, {row['rho']:g}"


def check_verdict():
    """A bar is twice the better grid and the slack; fits that stop without an answer count as infinitely far."""
    grids = {"descent": {"median": 0.01}, "sums": {"median": 0.02}}
    for rho, excess, median, met in ((0.1, [0.03, 0.03], 0.03, True), (0.1, [0.0301, 0.0301], 0.0301, False),
                                     (0.01, [0.09, 0.09], 0.09, True), (1.0, [None, None, 0.001], None, False),
                                     (1.0, [None, 0.001, 0.002], 0.002, True)):
        row = fit_tables.verdict(rho, excess, grids)
        assert (row["median"], row["met"], row["stopped"]) == (median, met, excess.count(None)), row


def check_grids():
    """Without noise and with a long clip norm the descent of the grids ends at least squares, and a clipped sum over distinct
    rows is the plain sum over all rows. Otherwise `fit` would be held against something else than it says."""
    try:
        import numpy
    except ImportError:
        return print("the grids are not checked: numpy is not here")
    from comparison import fit_grids
    draw = numpy.random.default_rng(1)
    x = draw.integers(0, 4, (3_000, 2)).astype(float)
    y = x @ [1.0, -2.0] + draw.integers(0, 3, 3_000)
    columns = {name: (float(x[:, at].mean()), float(x[:, at].std())) for at, name in enumerate("ab")}
    table = fit_tables.FitTable("made", "", columns, (float(y.mean()), float(y.std())), x, y, 1.0, len(y))
    rows, (work, target) = fit_grids.DistinctRows(table), table.working
    assert len(rows.long) < 100
    theta = draw.standard_normal((3, 2))
    pull = work @ theta - target[:, None]
    lengths = numpy.linalg.norm(work, axis=1)[:, None]
    plain = work.T @ (pull * numpy.minimum(1, 0.7 / numpy.maximum(numpy.abs(pull) * lengths, 1e-300)))
    assert numpy.allclose(rows.gradients(theta, 0.7), plain, rtol=1e-4, atol=1e-2), (rows.gradients(theta, 0.7), plain)
    ends = fit_grids.descent(rows, table, (160, 1.0, 50.0), (1e12,), 2)
    assert max(table.excess(end) for end in ends.T) < 1e-6, [table.excess(end) for end in ends.T]


def check_hand_written_noise():
    """The noise of the sums that numpy makes is as large as it says: otherwise nustream would be compared with less, or with
    more, than others offer. 2,000 draws of 30 entries: an error of 2% is eight standard errors."""
    try:
        import numpy
    except ImportError:
        return print("sums by hand are not checked: numpy is not here")
    from comparison import private_sums
    steps, draw = [1, 3, 4, 13], numpy.random.default_rng(1)

    def shape(source, count):
        return source.standard_normal((count, 30))

    for noise_of, sensitivity, last in ((private_sums.of_tree, 2.0, math.sqrt(8 / 15 + 4 / 7 + 1)),
                                        (private_sums.of_square_root, None, None)):
        runs = [noise_of(draw, shape, steps) for _ in range(2_000)]
        for at, step in enumerate(steps):
            said = runs[0][0][at][1]
            seen = float(numpy.std([run[0][at][0] for run in runs]))
            assert abs(seen / said - 1) < 0.02, (noise_of.__name__, step, seen, said)
        assert sensitivity is None or runs[0][1] == sensitivity
        assert last is None or abs(runs[0][0][-1][1] - last) < 1e-12
        if noise_of is private_sums.of_square_root:  # its last deviation is its sensitivity, γ_T
            assert runs[0][0][-1][1] == runs[0][1]


def run_part(name, folder):
    """The result of a part at tiny counts, or None where one of its peers is not installed."""
    run = subprocess.run([str(root / "benchmarks/compare"), "--quick", f"--{name}", "--build", str(build), "--out", folder],
                         capture_output=True, text=True)
    if "not here" in run.stderr:
        return print(f"{name} are not compared: a peer is not here")
    assert run.returncode == 0, run.stderr
    file = {"curvature": "glm_curvature"}.get(name, name)
    return json.loads(Path(folder, f"compare_{file}.json").read_text())


def check_parts_run(folder):
    check_tables_run(run_part("tables", folder))
    for name in ("estimators", "curvature", "fits"):
        run_part(name, folder)
    for name in ("images", "clicks"):
        result = run_part(name, folder)
        for budget in result["budgets"] if result else []:
            assert len(budget["rows"]) == 6, name


def check_tables_run(result):
    if result is None:
        return
    for table in result["tables"]:
        assert {row["peer"] for row in table["rows"]} >= {"nustream"}
        for row in table["rows"]:
            positive(row["distance"]["mean"], f"{table['table']}, {row['name']}")


def check_destinations():
    whole, part = {"numpy": {"version": "2"}}, {"numpy": {"version": "2"}, "river": {"skipped": "no network"}}
    asked = Path("asked")
    assert page.folder_of(None, False, whole) == page.RESULTS
    assert page.folder_of(None, False, part) == root / "build/compare"
    assert page.folder_of(None, True, whole) == root / "build/compare/quick"
    assert page.folder_of(asked, False, part) == page.folder_of(asked, True, whole) == asked


check_page()
check_tables()
check_figure_4()
check_estimators()
check_curvature()
check_fits()
check_verdict()
check_grids()
check_hand_written_noise()
check_destinations()
with tempfile.TemporaryDirectory() as folder:
    subprocess.run([str(root / "benchmarks/compare"), "--quick", "--build", str(build), "--out", folder], check=True)
    result = json.loads(Path(folder, "compare.json").read_text())
    assert result["benchmark"] == "compare" and result["machine"]["cpu"] and result["machine"]["core"] >= 0
    assert set(result["peers"]) == {"numpy", "scikit-learn", "river", "vowpalwabbit", "jax-privacy"}
    assert all("version" in peer or peer["skipped"] for peer in result["peers"].values())
    check_sections(result["sections"])
    check_accuracy(result["accuracy"])
    text = Path(folder, "compare.md").read_text()
    for section in result["sections"]:
        assert all(f"| {row['name']} |" in text for row in section["rows"]), f"{section['name']} is not in the tables"
    for chart in ("replay", "step_loop", "noise", "accuracy"):
        xml.etree.ElementTree.parse(Path(folder, f"compare_{chart}.svg"))
    check_parts_run(folder)
print("sections, ratios, tables and charts are whole")
