#!/usr/bin/env python3
"""The documentation, held against the program. Usage: documentation.py ROOT NUSTREAM

Complete configurations are valid, and so are fragments on top of a small one; the commands of the pages run, or are
known with every option they name; every key of docs/configuration.md is one that the program knows, and every key that
it reads is on that page; metrics, files, anchors and figures that are named exist; C++ examples are those that the
package test compiles."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

root, program = Path(sys.argv[1]).resolve(), str(Path(sys.argv[2]).resolve())
pages = sorted([root / "README.md", root / "benchmarks/README.md", root / "tests/campaign/README.md",
                *root.glob("docs/**/*.md"), *root.glob("examples/**/*.md")])
mistakes = []
checked = {}


def mistake(where, what):
    mistakes.append(f"{where}: {what}")


def count(what):
    checked[what] = checked.get(what, 0) + 1


def nustream(arguments, folder, **more):
    return subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, timeout=120, **more)


def blocks(page, language=None):
    for found in re.finditer(r"^```(\w*)\n(.*?)^```", page.read_text(), re.S | re.M):
        if language is None or found[1] == language:
            yield found[2]


def name_of(page):
    return str(page.relative_to(root))


# ---- configurations

BASE = {
    "stream": '[stream]\nname = "page"\ninput = "page.csv"\n',
    "target": '[target]\ncolumn = "y"\n',
    "features": '[[features]]\ncolumn = "x"\n',
    "descent": "[descent]\nstep_size = 0.1\nclip_norm = 1.0\n",
    "privacy": "[privacy]\nrho = 0.5\ndelta = 1e-6\n",
    "noise": "[noise]\nnu = 0.01\n",
}


def tables(text):
    """Header of each table, its text; tables of an array come together."""
    found = {}
    for part in re.split(r"^(?=\[)", text, flags=re.M):
        header = re.match(r"\[+([a-z_]+)\]+", part)
        if header:
            found[header[1]] = found.get(header[1], "") + part
    return found


def check_configurations():
    for page in pages:
        earlier = {}
        for text in blocks(page, "toml"):
            now = tables(text)
            if "stream" in now:
                whole, earlier = text, {}
            else:  # a fragment: on top of a small configuration, and of the page's fragments before it
                earlier.update(now)
                merged = dict(BASE)
                if "instruments" in earlier:
                    merged.pop("features")
                for header, part in earlier.items():
                    lines = part
                    if header in BASE and header != "features":  # keys of the small one that are not said again
                        said = set(re.findall(r"^(\w+) *=", part, re.M))
                        lines += "".join(line + "\n" for line in BASE[header].splitlines()[1:]
                                         if line.split(" ")[0] not in said)
                    merged[header] = lines
                whole = "".join(merged.values())
            with tempfile.TemporaryDirectory() as folder:
                Path(folder, "page.toml").write_text(whole)
                result = nustream(["check", "page.toml"], folder)
            count("configurations")
            if result.returncode != 0:
                mistake(name_of(page), f"a configuration is refused: {result.stderr.strip()}\n{whole}")


# ---- keys

def check_keys():
    text = (root / "docs/configuration.md").read_text() + (root / "docs/kafka.md").read_text()
    named = set(re.findall(r"[`.]([a-z][a-z0-9_]*)(?:`|\]| = )", text))
    read = set()
    for source in (root / "streaming/config").glob("*.cpp"):
        read |= set(re.findall(r'(?:section|root|model|stream|descent|noise|privacy|kafka|serve|state|plan|local)\w*'
                               r'\.\w+(?:<[\w:]+>)?\("([a-z][a-z0-9_]*)"', source.read_text()))
    for key in sorted(read):
        count("keys that are read")
        if key not in named and f"[{key}]" not in text and f"[[{key}]]" not in text:
            mistake("docs/configuration.md", f"the program reads '{key}', which is not on the page")
    base = "".join(BASE.values())
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "page.toml").write_text(base)
        Path(folder, "topic.toml").write_text(base + '[kafka]\nbrokers = "localhost:9092"\ntopic = "input"\n')
        section = None
        for line in (root / "docs/configuration.md").read_text().splitlines():
            heading = re.match(r"#+ \[+([a-z_]+)\]+", line)
            if heading:
                section = heading[1]
            elif line.startswith("#"):
                section = None if not line.startswith("### ") else section
            row = re.match(r"\| ((?:`[a-z_0-9]+`(?:, | or )?)+) \|", line)
            if not row or section is None or section in ("features", "noise"):
                continue
            place = {"target": "target", "instruments": "instruments.0", "endogenous": "endogenous.0"}.get(section,
                                                                                                      section)
            for key in re.findall(r"`([a-z_0-9]+)`", row[1]):
                count("keys that are documented")
                file = "topic.toml" if section == "kafka" else "page.toml"
                result = nustream(["check", file, "--set", f"{place}.{key}=1"], folder)
                if "unknown key" in result.stderr:
                    mistake("docs/configuration.md", f"{place}.{key} is no key: {result.stderr.strip()}")


# ---- commands

def help_of(words):
    result = nustream([*words, "--help"], root)
    return result.stdout if result.returncode == 0 else None


HELPS = {}
for one in [[], ["plan"], ["audit"], ["replay"], ["estimate"], ["local", "randomize"], ["local", "collect"], ["attach"],
            ["record"], ["topics"], ["check"], ["inspect"], ["key", "new"], ["key", "rotate"]]:
    HELPS[tuple(one)] = help_of(one)
COMMANDS = {words[0] for words in HELPS if words} | {"local", "key"}
SOURCES = [path.read_text() for folder in ("streaming", "src") for path in (root / folder).rglob("*.cpp")]
SCRIPTS = {"--demo", "--quick", "--campaign", "--again", "--help"}  # of ./run and ./test


def check_command(where, line):
    if any(f'"{line}' in text for text in SOURCES):
        return  # a label that keys are derived with
    words = shlex.split(line, comments=True)
    words = [word for word in words if word not in ("[FILE…]", "[FILE...]")]
    for end in (">", "|", "&&", ";"):
        words = words[:words.index(end)] if end in words else words
    if len(words) < 2 or words[1].startswith("-") or words[1].isupper() or words[1] == "…":
        return
    count("commands")
    if words[1] not in COMMANDS:
        return mistake(where, f"there is no command '{words[1]}': {line}")
    known = [help_text for names, help_text in HELPS.items() if names and names[0] == words[1]]
    if words[1] in ("local", "key") and len(words) > 2:
        known = [HELPS.get((words[1], words[2].strip(",")), "")]
    for option in [word.split("=")[0] for word in words if re.match(r"--?[a-zA-Z]", word)]:
        if option not in SCRIPTS and not any(re.search(rf"(?<![\w-]){re.escape(option)}\b", text or "") for text in known):
            mistake(where, f"'{words[1]}' has no option {option}: {line}")


def check_commands():
    for page in pages:
        for text in blocks(page, ""):
            for line in text.splitlines():
                if re.match(r"(\./run|nustream) ", line.strip()):
                    check_command(name_of(page), line.strip())
        prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M)
        for code in re.findall(r"`((?:\./run|nustream) [^`]+)`", prose):
            check_command(name_of(page), code)
        # Options by themselves belong to some command, or to another program that the page is about.
        every = " ".join(text for text in HELPS.values() if text)
        for option in re.findall(r"`(--[a-z][a-z-]+)[ =`]", prose):
            count("options")
            if option not in SCRIPTS and not re.search(rf"(?<![\w-]){option}\b", every + OTHERS):
                mistake(name_of(page), f"no command has an option {option}")


def options_of_programs():
    """Of the project's own benchmarks and campaigns, by their sources."""
    text = ""
    for folder in ("benchmarks", "tests/campaign"):
        for path in (root / folder).rglob("*"):
            if path.is_file() and path.suffix in (".cpp", ".h", "", ".py", ".sh"):
                text += path.read_text(errors="ignore")
    return text


OTHERS = options_of_programs()


def run_pages_of_one_stream():
    """The commands of README's own-stream part, as somebody types them."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(root / "examples/retail/online_retail_events.csv.gz", folder)
        config = (root / "examples/retail/retail.toml").read_text()
        config = config.replace('name = "retail"', 'name = "mine"').replace("runs/retail", "runs/mine")
        Path(folder, "mine.toml").write_text(config)
        lines = [line for text in blocks(root / "README.md", "") for line in text.splitlines() if "mine" in line
                 and line.startswith("./run ")]
        if len(lines) < 4:
            mistake("README.md", "the commands for an own stream are not found")
        for line in lines:
            words = shlex.split(line, comments=True)[1:]
            if words[0] == "replay":
                words += ["--to", "20000"]
            result = nustream(words, folder)
            count("commands that were run")
            if result.returncode != 0:
                mistake("README.md", f"{line} ended with {result.returncode}: {result.stderr.strip()}")


def run_local_page():
    page = root / "docs/local.md"
    config = next(text for text in blocks(page, "toml") if "[stream]" in text)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "survey.toml").write_text(config)
        Path(folder, "my-record.csv").write_text("user,age,income,bought\nu1,50,31000,1\n")
        Path(folder, "public.csv").write_text("user,age,income,bought\n" + "".join(
            f"p{i},{30 + i % 40},{20000 + 900 * (i % 37)},\n" for i in range(200)))
        lines = [line for text in blocks(page, "") for line in text.splitlines() if line.startswith("nustream ")]
        for line in lines:
            code, _, _ = line.partition("#")
            result = subprocess.run(code.replace("nustream", shlex.quote(program), 1), shell=True, cwd=folder,
                                    capture_output=True, text=True, timeout=120)
            count("commands that were run")
            if result.returncode != 0:
                mistake("docs/local.md", f"{code.strip()} ended with {result.returncode}: {result.stderr.strip()}")


def run_key_of_deployment():
    with tempfile.TemporaryDirectory() as folder:
        text = next(blocks(root / "docs/deployment.md", ""), "")
        if "key new docker/secrets/key" not in text:
            return mistake("docs/deployment.md", "the command that makes the key is not found")
        os.makedirs(Path(folder, "docker/secrets"))
        result = nustream(["key", "new", "docker/secrets/key"], folder)
        count("commands that were run")
        if result.returncode != 0 or Path(folder, "docker/secrets/key").stat().st_mode & 0o077:
            mistake("docs/deployment.md", f"key new: {result.stderr.strip()}")


# ---- what is named

def anchors(text):
    found = set()
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M), re.M):
        plain = re.sub(r"[^\w\- ]", "", re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower())
        found.add(plain.replace(" ", "-"))
    return found


def check_names():
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
        for path in re.findall(r"`((?:tests|streaming|include|src|docs|benchmarks|examples)/[\w./-]+\.\w+)`", text):
            count("paths")
            if not (root / path).exists():
                mistake(name_of(page), f"there is no {path}")
        for campaign in re.findall(r"--campaign ([a-z0-9_]+)", text):
            count("campaigns")
            if campaign != "all" and not re.search(rf"^{campaign}\(\)", (root / "tests/campaign/run").read_text(), re.M):
                mistake(name_of(page), f"there is no campaign {campaign}")


def check_examples():
    compiled = (root / "tests/package/main.cpp").read_text()
    cmake = (root / "tests/package/CMakeLists.txt").read_text()
    for page in [*pages, *root.glob("include/**/*.h")]:
        for text in blocks(page, "cpp"):
            count("C++ examples")
            for line in filter(None, (line.strip() for line in text.splitlines())):
                if line not in compiled:
                    mistake(name_of(page), f"a line of an example is not compiled by tests/package: {line}")
        for text in blocks(page, "cmake"):
            count("CMake examples")
            if "find_package(nustream REQUIRED)" not in cmake or "nustream::core" not in cmake:
                mistake(name_of(page), "the package test does not use the library as the page says")


check_configurations()
check_keys()
check_commands()
run_pages_of_one_stream()
run_local_page()
run_key_of_deployment()
check_names()
check_examples()
for line in mistakes:
    print(line, file=sys.stderr)
print(", ".join(f"{number} {what}" for what, number in checked.items()))
sys.exit(1 if mistakes else 0)
