"""What README shows of ./run is what ./run prints, and its last table is as near to least squares as README says."""

import math
import re
import shlex
import tempfile
from pathlib import Path

from pages import blocks, count, mistake, nustream, root

LEAST_SQUARES = (1.987337, -0.529010)  # of the bundled file, computed outside of this project: examples/retail/README.md
SEED = 5  # fixed, so that no false alarm comes and goes


def runs(script, folder):
    """The outputs of the example's runs, with the arguments of the script. `folder` takes what they write."""
    settings = ["--set", f'state.directory="{folder}/run"', "--set", f'state.key_directory="{folder}"',
                "--insecure-seed", str(SEED)]
    for line in re.findall(r"^run_example(?: (.*))?$", script, re.M):
        result = nustream(["replay", root / "examples/retail/retail.toml", *settings, *shlex.split(line)], folder)
        count("commands that were run")
        if result.returncode != 0:
            mistake("run", f"run_example {line} ended with {result.returncode}: {result.stderr.strip()}")
        yield result.stdout


def form(text):
    """The lines, with # for each figure, and without those about keys: a run with a seed for tests has no key."""
    lines = [re.sub(r"-?\d[\d,.]*", "#", re.sub(r"(\s)\S*/", r"\1", line)) for line in text.splitlines()]
    return [re.sub(r"\s+", " ", line).strip() for line in lines if line and not re.match("key |witness ", line)]


def distance(table, column):
    """How far the last column of the last table in `table` is from least squares."""
    last = table.rpartition("estimate ")[2]
    values = [float(re.search(rf"^{name}(?: +(\S+))+", last, re.M)[1]) for name in (r"intercept", r"log\(unit_price\)")]
    if not all(map(math.isfinite, values)):
        mistake(column, "the table holds a number that is not finite")
    return math.dist(values, LEAST_SQUARES)


def check_first_output():
    script = (root / "run").read_text()
    shown = next((text for text in blocks(root / "README.md", "") if "\nestimate " in text), "")
    said, _, rest = shown.partition("This public file's own least squares")
    with tempfile.TemporaryDirectory() as folder:
        outputs = list(runs(script, folder))
        if len(outputs) != 2:
            mistake("run", "does not make two runs of the example")
            return
        printed = [line for output in outputs for line in form(output)]
        for line in form(said):
            if line not in printed and f"printf '\\n{line}\\n\\n'" not in script:
                mistake("README.md", f"shows a line that ./run does not print: {line}")
        for line in printed:
            if line not in form(said) and "private" not in line and "seed" not in line:
                mistake("README.md", f"does not show a line that ./run prints: {line}")
        third = nustream(["replay", root / "examples/retail/retail.toml", "--set", f'state.directory="{folder}/run"',
                          "--set", f'state.key_directory="{folder}"', "--insecure-seed", str(SEED), "--new-epoch",
                          "--from", "0"], folder)
        if third.returncode != 73 or "privacy.budget" not in third.stderr:
            mistake("README.md", f"says that a third run is refused, and it ended with {third.returncode}")
    for line in re.search(r"^cat <<TEXT\n(.*?)^TEXT$", script, re.S | re.M)[1].splitlines():
        if line not in shown:
            mistake("README.md", f"does not show a line of ./run: {line}")
    # Running sums are promised to come within .005; README says .016 of the descent's average.
    for where, table, farthest in (("README.md", said, .005), ("run", outputs[1], .005), ("run", outputs[0], .02)):
        count("distances to least squares")
        if distance(table, where) > farthest:
            mistake(where, f"a last table is {distance(table, where):.4f} from least squares, more than {farthest}")
