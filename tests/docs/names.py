"""Metrics, events of the log, files and headings that pages name exist, and no list of files names one twice."""

import re

from pages import count, mistake, name_of, pages, root
from paths import OTHERS


def anchors(text):
    found = set()
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M), re.M):
        plain = re.sub(r"[^\w\- ]", "", re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower())
        found.add(plain.replace(" ", "-"))
    return found


def check_events():
    """Each event that the service logs has its row in docs/logs.md with its level, and each row its event."""
    sources = " ".join(path.read_text() for path in (root / "streaming").rglob("*.cpp"))
    logged = {(event, level) for level, event in re.findall(r'log::(info|warning)\(\s*"([a-z_]+)"', sources)}
    logged |= {(event, level) for level, event in re.findall(r'Level::(\w+),\s*"([a-z_]+)"', sources)}
    logged |= {("budget_reached", "info"), ("lane_finished", "info"), ("lane_failed", "warning")}  # by how a lane ended
    rows = set()
    for events, levels in re.findall(r"^\| (`[a-z_`, ]+`) \| ([a-z, ]+) \|", (root / "docs/logs.md").read_text(), re.M):
        names, kinds = re.findall(r"`([a-z_]+)`", events), levels.strip().split(", ")
        rows |= {(name, kinds[min(i, len(kinds) - 1)]) for i, name in enumerate(names)}
    for event, level in sorted(logged | rows):
        count("events of the log")
        if (event, level) in logged & rows:
            continue
        mistake("docs/logs.md", f"{event} ({level}) is " + ("logged, and not there" if (event, level) in logged else "never logged"))


def check_benchmarks():
    """Each benchmark of benchmarks/README.md is run by a campaign."""
    campaign = (root / "tests/campaign/run").read_text()
    known = set(re.findall(r"benchmarks/(benchmark_[a-z_]+)", campaign))
    loops = re.findall(r"for each in ([a-z_ ]+); do(?:(?!done).)*?benchmarks/(benchmark_(?:[a-z]+_)?)\$each", campaign, re.S)
    known |= {prefix + name for names, prefix in loops for name in names.split()}
    for program in re.findall(r"^\| `(benchmark_[a-z_]+)`", (root / "benchmarks/README.md").read_text(), re.M):
        count("benchmarks")
        if program not in known:
            mistake("benchmarks/README.md", f"{program} is in no campaign of tests/campaign/run")


def check_repeated_files():
    """No cell of a table, and no parenthesis, names one file twice: where it does, one of the two was meant to be another
    file, which neither a search for missing files nor a reader of one name sees."""
    for page in pages:
        prose = re.sub(r"^ *```.*?^ *```", "", page.read_text(), flags=re.S | re.M)
        cells = [cell for line in re.findall(r"^\|(.*)\|$", prose, re.M) for cell in re.split(r"(?<!\\)\|", line)]
        for text in [*cells, *re.findall(r"(?<!\])\(([^()]*)\)", prose)]:
            named = re.findall(r"`([\w./-]+/[\w-]+\.\w+)`", text)
            if named:
                count("lists of files")
            for file in sorted({file for file in named if named.count(file) > 1}):
                mistake(name_of(page), f"{file} is named twice in one place: {' '.join(text.split())}")


def check_names():
    check_events()
    check_repeated_files()
    check_benchmarks()
    metrics = set(re.findall(r"\b(?:nustream|process)_[a-z_]+", (root / "docs/metrics.md").read_text()))
    for page in pages:
        text = page.read_text()
        for metric in re.findall(r"`((?:nustream|process)_[a-z_]+)", text):
            count("metrics")
            if metric not in metrics and re.sub(r"_(bucket|sum|count)$", "", metric) not in metrics \
                    and not (root / f"tests/rooms/{metric}").exists() and metric not in OTHERS:
                mistake(name_of(page), f"{metric} is not in docs/metrics.md")
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            count("links")
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if not file.exists():
                mistake(name_of(page), f"there is no {target}")
            elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text()):
                mistake(name_of(page), f"there is no heading #{anchor} in {path or 'this page'}")
