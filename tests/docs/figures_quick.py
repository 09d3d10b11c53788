#!/usr/bin/env python3
"""benchmarks/figures --quick: every figure of the papers is drawn at small counts, whole, in the shape that
docs/reproduction.md reads from docs/results. Usage: figures_quick.py ROOT BUILD"""

import json
import math
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

root, build = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
PREFIXES = ("cdp_", "dpgd_", "iv_", "local_")
EXACT = ("closed_forms", "cdp_coefficients", "cdp_divergence", "cdp_ratio", "cdp_spectrum")  # the same at any counts


def shape(value):
    """The keys of a value, and the shapes under them; the shape of a list has what any of its elements has."""
    if isinstance(value, dict):
        return {key: shape(each) for key, each in value.items()}
    if isinstance(value, list):
        joined = None
        for each in map(shape, value):
            joined = {**joined, **each} if isinstance(joined, dict) and isinstance(each, dict) else each
        return [joined]
    return "number" if isinstance(value, (int, float)) or value is None else "text"


def lacking(wanted, there, path):
    """What the wanted shape has and the other has not: small counts may draw fewer points, never other keys."""
    if isinstance(wanted, dict) and isinstance(there, dict):
        # Keys that are numbers are settings, of which small counts have fewer.
        keys = [key for key in wanted if not key.replace(".", "").isdigit()]
        return [f"{path}/{key}" for key in keys if key not in there] + \
            [one for key in keys if key in there for one in lacking(wanted[key], there[key], f"{path}/{key}")]
    if isinstance(wanted, list) and isinstance(there, list):
        return lacking(wanted[0], there[0], path + "[]")
    return [] if type(wanted) is type(there) else [path]


def numbers(value, path=""):
    if isinstance(value, dict):
        for key, each in value.items():
            yield from numbers(each, f"{path}/{key}")
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from numbers(each, f"{path}/{index}")
    elif isinstance(value, (int, float)):
        yield path, value


def series_of(result):
    return {each["series"] for each in result.get("series", [])}


def check_result(name, committed, drawn):
    missing = lacking(shape(committed), shape(drawn), name)
    assert not missing, f"drawn at small counts it lacks {missing}"
    assert series_of(committed) == series_of(drawn), f"{name}: other series: {series_of(committed) ^ series_of(drawn)}"
    values = list(numbers(drawn))
    assert values, f"{name} has no numbers"
    for path, value in values:
        assert math.isfinite(value), f"{name}{path} is {value}"
    if name in EXACT:
        assert [path for path, _ in values] == [path for path, _ in numbers(committed)], f"{name}: other places"
        for (path, value), (_, wanted) in zip(values, numbers(committed)):
            assert math.isclose(value, wanted, rel_tol=1e-6, abs_tol=1e-12), f"{name}{path} is {value}, not {wanted}"


def check_all(folder):
    committed = {path.stem for path in (root / "docs/results").glob("*.json") if path.stem.startswith(PREFIXES)}
    drawn = {path.stem for path in folder.glob("*.json")}
    expected = committed | {"closed_forms"}
    assert drawn == expected, f"not drawn, or not committed: {drawn ^ expected}"
    for name in sorted(drawn):
        of_campaign = json.loads((root / f"docs/results/{name}.json").read_text())
        of_campaign.pop("sources", None)  # the campaign adds it (tests/campaign/name_sources)
        check_result(name, of_campaign, json.loads((folder / f"{name}.json").read_text()))
    for name in sorted(committed):
        picture = xml.etree.ElementTree.parse(folder / f"{name}.svg").getroot()
        assert picture.tag.endswith("svg") and len(picture) > 5, f"{name}.svg is no picture"
    return len(drawn)


with tempfile.TemporaryDirectory() as out:
    subprocess.run([root / "benchmarks/figures", build, "--quick", "--out", out], check=True)
    print(f"{check_all(Path(out))} figures")
