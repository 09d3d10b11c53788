"""What docs/privacy.md says of the README's example is what `nustream plan` computes for it."""

import json
import re
import tempfile

from pages import count, mistake, nustream, root

PAGE = "docs/privacy.md"
SAID = (r"costs ρ = ([\d.]+)\. Under its correlation 10 adjacent records come to ρ = ([\d.]+) and ε = ([\d.]+), "
        r"and 100 come to ρ = ([\d.]+) and ε = ([\d.]+)")


def check_plan_figures():
    with tempfile.TemporaryDirectory() as folder:
        result = nustream(["plan", root / "examples/retail/retail.toml", "--json"], folder)
    count("commands that were run")
    if result.returncode != 0:
        mistake(PAGE, f"plan of the example ended with {result.returncode}: {result.stderr.strip()}")
        return
    plan = json.loads(result.stdout)
    groups = {group["records"]: group for group in plan["groups"]}
    values = [plan["spend"][-1]["rho"]] + [groups[size][what] for size in (10, 100) for what in ("rho", "epsilon")]
    found = re.search(SAID, re.sub(r"\s+", " ", (root / PAGE).read_text()))
    if not found:
        mistake(PAGE, "does not say what 10 and 100 records of one person cost under the README's settings")
        return
    for said, value in zip(found.groups(), values):
        digits = len(said.partition(".")[2])
        if float(said) != round(value, digits):
            mistake(PAGE, f"says {said} where plan computes {value}")
