"""docs/reproduction.md is what docs/reproduction and docs/results make of it, and its tables are whole: every item that
a paper numbers is in a row, every row has what its verdict needs, every command exists, every figure is shown.

Alone: reproduction.py ROOT NUSTREAM, which runs no program. benchmarks/figures --page writes the page anew."""

import math
import re
import sys

from pages import count, mistake, mistakes, repository, root

sys.path.insert(0, str(root / "benchmarks"))
from papers import page, values  # noqa: E402

PAGE = "docs/reproduction.md"
KEYS = {"item", "place", "paper", "other", "here", "command", "verdict", "because"}
NUMBERED = re.compile(r"(?:Algorithm|Claim|Condition|Corollary|Figure|Lemma|Property|Proposition|Remark|Table|Theorem)"
                      r" (?:[A-Z]\.)?\d+(?:\.\d+)?")
FORMS = [(.9335, ".3", ".934"), (.1195, "%.1", "12.0"), (1234.5, ".0", "1,235"), (-1.985, ".2", "−1.99"),
         (4936.2, "~2", "4,900"), (-.0004, ".3", ".000"), (9.96, "~2", "10"), (4.2e-6, "~2", ".0000042"),
         (9.2e-15, "~2", "9.2e-15"), (0, "~2", "0"), ([20, .41, .0123], ".3 se", ".410 (.012)"),
         ({"median": 3104.2, "standard_error": 4936.2}, "~2 se", "3,100 (4,900)"),
         ({"mean": .754, "standard_error": .0128}, "%.1 se", "75.4 (1.3)")]
# Of y = 1/x over 1, e, e² with errors of .1, .5 and .2 of y: (log y_3 − log y_1)/2, and √(.1² + .2²)/2.
SLOPE = [[math.exp(i), math.exp(-i), share * math.exp(-i)] for i, share in enumerate((.1, .5, .2))]
SLOPES = [(SLOPE, "slope", ".2 se", "−1.00 (.11)"), (SLOPE, "slope", ".1", "−1.0"),
          ([{"n": x, "error": {"mean": y, "standard_error": error}} for x, y, error in SLOPE], "slope of error over n",
           ".2 se", "−1.00 (.11)"),
          ([point[:2] for point in SLOPE], "slope", ".1", "−1.0")]
DRAWN = ("cdp_", "dpgd_", "iv_", "local_")


def check_forms():
    for value, form, wanted in FORMS:
        count("forms of figures")
        if values.formed(value, form) != wanted:
            mistake("benchmarks/papers/values.py", f"{value} as {form} is {values.formed(value, form)}, not {wanted}")
    for points, asked, form, wanted in SLOPES:
        count("slopes of figures")
        if values.formed(values.asked_of(points, asked), form) != wanted:
            mistake("benchmarks/papers/values.py", f"the {asked} of {points} is not {wanted}")


def check_page():
    text, wrong, used = page.written(root)
    for each in wrong:
        mistake(*each.split(": ", 1))
    there = (root / PAGE).read_text()
    if there != text and not wrong:
        lines = zip(there.splitlines() + ["the end"], text.splitlines() + ["the end"])
        at, (has, wanted) = next((at, pair) for at, pair in enumerate(lines, 1) if pair[0] != pair[1])
        first = next((i for i, (a, b) in enumerate(zip(has, wanted)) if a != b), min(len(has), len(wanted)))
        around = slice(max(0, first - 30), first + 30)
        mistake(f"{PAGE}:{at}", f"it has …{has[around]}… where docs/reproduction and docs/results make "
                f"…{wanted[around]}…; benchmarks/figures --page writes it anew")
    return text, used


def check_command(where, command):
    count("commands of papers")
    program, *names = command.split()
    if program in ("ctest", "benchmarks/figures", "benchmarks/compare"):
        return  # commands.py looks at them on the page
    sources = next((each for path, each in repository.programs.items() if path == f"benchmarks/{program}"), None)
    if sources is None:
        return mistake(where, f"there is no program {program}: {command}")
    text = "".join((root / "benchmarks" / source).read_text() for source in sources if source.endswith(".cpp"))
    for name in names:
        if not re.search(rf'(?:single|coverage)\(\s*"{name}"', text):
            mistake(where, f"{program} has no figure {name}")


def check_row(where, row):
    count("items of papers")
    where = f"{where}: {row.get('item', '?')[:60]}"
    for key in row.keys() - KEYS:
        mistake(where, f"a row has no {key}")
    if not row.get("item") or not row.get("place") or row.get("verdict") not in page.VERDICTS or "paper" not in row:
        return mistake(where, "a row needs item, place, what the paper says (or \"\") and one of the verdicts")
    measured = row["verdict"] in ("reproduced", "differs", "false")
    commands = page.commands_of(row)
    if measured and not (row.get("here") and commands):
        mistake(where, f"what is {row['verdict']} needs what is measured here, and a command")
    if row["verdict"] != "reproduced" and not row.get("because"):
        mistake(where, f"why it is {row['verdict']} is missing")
    if measured and not any(command.startswith("ctest") for command in commands) \
            and not values.files_of(row["here"] + row.get("because", "")):
        mistake(where, "it has neither a figure of docs/results nor a test")
    for command in commands:
        check_command(where, command)


def check_numbered(where, paper):
    """The list `numbered` says what was read in the paper: a row that goes takes its items with it, and that shows."""
    there = {item for row in paper["rows"] for item in NUMBERED.findall(row["place"])}
    wanted = set(paper["numbered"])
    for item in sorted(wanted - there):
        mistake(where, f"no row is about {item}")
    for item in sorted(there - wanted):
        mistake(where, f"a row is about {item}, which the paper's list has not")


def check_shown(text, used):
    """Everything that is drawn for the papers is on the page, by its figures and by its picture."""
    pictures = set(re.findall(r"\(results/(\w+)\.svg\)", text))
    for path in sorted((root / "docs/results").glob("*.json")):
        if path.stem.startswith(DRAWN):
            count("figures of papers")
            if path.stem not in pictures:
                mistake(PAGE, f"the picture of {path.stem} is not shown")
            if path.stem not in used:
                mistake(PAGE, f"no row has a figure of docs/results/{path.stem}.json")


def check_reproduction():
    check_forms()
    text, used = check_page()
    for name, paper in page.papers(root)[1].items():
        where = f"docs/reproduction/{name}.json"
        for row in paper["rows"]:
            check_row(where, row)
        check_numbered(where, paper)
    check_shown(text, used)


if __name__ == "__main__":
    check_reproduction()
    print("\n".join(mistakes), file=sys.stderr)
    sys.exit(1 if mistakes else 0)
