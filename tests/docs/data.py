"""Tries the table of docs/data.md row by row: makes the file as the row says, and reads it as the row says."""

import json
import re
import subprocess
import tempfile
from pathlib import Path

from pages import count, mistake, nustream, root

page = root / "docs/data.md"
config = """[stream]
name = "table"
[target]
column = "y"
[[features]]
column = "x"
[descent]
step_size = 0.1
clip_norm = 10.0
[privacy]
rho = 1.0
delta = 1e-6
[noise]
nu = 0.1
"""


def rows_of_the_table():
    """What stands in the cells: the file's name, the command, the settings, the answer."""
    for line in page.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if not line.startswith("| ") or "`" not in line:
            continue
        codes = [re.findall(r"`([^`]*)`", cell) for cell in cells]
        yield cells[0], codes[1][0], codes[2] if len(codes) > 3 else [], codes[-1][0]


def answer_of(command, settings):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "rows.csv").write_text(
            "x,y\n" + "".join(f"{i / 4 - 5:g},{i / 2 + 1:g}\n" for i in range(40)))
        Path(folder, "table.toml").write_text(config)
        made = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=60)
        if made.returncode != 0:
            return f"not made: {made.stderr.strip()}"
        placed = [setting if "." in setting.split("=")[0] else f"stream.{setting}" for setting in settings]
        chosen = [word for setting in placed for word in ("--set", setting)]
        result = nustream(["check", "table.toml", "--data", "f", "--json", *chosen], folder)
        if result.returncode != 0:
            return f"{result.returncode} {result.stderr.strip()}"
        data = json.loads(result.stdout)["data"]
        means = [data["columns"][0]["mean"], data["target"]["mean"]]
        whole = data["usable"] == data["records"] == 40 and abs(means[0] + 0.125) < 1e-9 and abs(means[1] - 10.75) < 1e-9
        return "read" if whole else f"{data['usable']} of {data['records']} records are usable, means {means}"


def check_data():
    for name, command, settings, expected in rows_of_the_table():
        count("files of docs/data.md")
        answer = answer_of(command, settings)
        code, _, words = expected.partition(" ")
        is_so = answer == expected if expected == "read" else answer.startswith(code + " ") and words in answer
        if not is_so:
            mistake("docs/data.md", f"{name}: '{expected}' is said, and it is '{answer}'")
