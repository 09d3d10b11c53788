#!/usr/bin/env python3
"""The documentation, held against the program. Usage: documentation.py ROOT NUSTREAM [--all-results]

Complete configurations are valid, and so are fragments on top of a small one; the commands of the pages run, or are
known with every option they name, and so are the tests, programs, presets and campaigns of other commands; every key
and choice of docs/configuration.md is one that the program knows, and every one that it reads is on that page; metrics,
files, anchors and figures that are named exist, and with --all-results the result of every campaign; C++ examples, of headers too,
stand in the source that the package test compiles."""

import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from repository import Repository  # noqa: E402

root, program = Path(sys.argv[1]).resolve(), str(Path(sys.argv[2]).resolve())
repository = Repository(root)
pages = sorted([root / "README.md", root / "benchmarks/README.md", root / "tests/campaign/README.md",
                *root.glob("docs/**/*.md"), *root.glob("examples/**/*.md")])
mistakes = []
checked = {}


def mistake(where, what):
    if f"{where}: {what}" not in mistakes:
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
    local = next(text for text in blocks(root / "docs/local.md", "toml") if "[stream]" in text)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "page.toml").write_text(base)
        Path(folder, "kafka.toml").write_text(base + '[kafka]\nbrokers = "localhost:9092"\ntopic = "input"\n')
        Path(folder, "first_stage.toml").write_text(
            base.replace("[[features]]", '[[instruments]]\ncolumn = "z"\n[[endogenous]]')
            + "[first_stage]\nstep_size = 0.1\nclip_norm = 1.0\n")
        Path(folder, "estimate.toml").write_text(base + "[estimate]\nsteps = 1\n")
        Path(folder, "local.toml").write_text(local)
        check_keys_of(folder, "docs/configuration.md", list(chapters((root / "docs/configuration.md").read_text())))
        check_keys_of(folder, "docs/local.md", [(["local"], (root / "docs/local.md").read_text())])


def check_keys_of(folder, page, parts):
    for sections, text in parts:
        keys = keys_of_tables(text)
        text += "".join(other for names, other in parts if any(f"as in [{name}]" in text for name in names))
        for place in [PLACES.get(section, section) for section in sections if keys]:
            for key in keys:
                if "." not in key or key.startswith(place + "."):
                    check_key(folder, page, key if "." in key else f"{place}.{key}", text)
            known = re.search(r"unknown key; known here: (.*)", set_key(folder, place + ".no_such_key", "1"))
            if not known:
                mistake(page, f"keys of {place} are not checked: any is accepted")
            for key in known[1].split(", ") if known else []:
                if not re.search(rf"`({place}\.)?{key}[`. ]", text):
                    mistake(page, f"the program knows {place}.{key}, which is not in its section of the page")


PLACES = {"features": "features.0", "instruments": "instruments.0", "endogenous": "endogenous.0"}


def chapters(text):
    """The sections that a heading of the second order names, and the text below it."""
    for part in re.split(r"^(?=## )", text, flags=re.M):
        yield re.findall(r"\[+([a-z_]+)\]+", part.splitlines()[0]), part


def keys_of_tables(text):
    """First column of the tables whose heading is "key"; parameters of those whose heading is "parameters"."""
    keys = []
    for table in re.findall(r"^\|.*\n\|[-|]+\n(?:\|.*\n)+", text, re.M):
        heading, _, *rows = table.splitlines()
        for row in rows:
            cells = row.split(" | ")
            if re.match(r"\| key (of \[\w+\] )?\|", heading):
                keys += re.findall(r"`([a-z_0-9.]+)`", cells[0])
            elif "| parameters |" in heading:
                keys += re.findall(r"`([a-z_0-9]+)`", cells[1])
    return keys


def set_key(folder, key, value):
    """What `nustream check` says of it, on a configuration that has the key's section."""
    file = Path(key.split(".")[0] + ".toml")
    file = file if Path(folder, file).exists() else "page.toml"
    return nustream(["check", str(file), "--set", f"{key}={value}"], folder).stderr.strip()


def check_key(folder, page, key, text):
    count("keys that are documented")
    error = set_key(folder, key, "1")
    if "unknown key" in error:
        mistake(page, f"{key} is no key: {error}")
    choices = re.search(r"allowed is one of (.*)$", set_key(folder, key, '"no such choice"'))
    for choice in choices[1].split(", ") if choices else []:
        count("choices")
        if not re.search(rf'`"?{re.escape(choice)}"?`', text):
            mistake(page, f"the choice {choice} of {key} is not on the page")


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


def check_ctest(where, line, words):
    count("commands of ctest")
    for option, value in zip(words, words[1:]):
        if option == "--test-dir":
            check_path(where, value)
        elif option in ("-R", "-E"):
            try:
                known = any(re.search(value, name) for name in repository.tests)
            except re.error as error:
                return mistake(where, f"{value} is no regular expression ({error}): {line}")
            if not known:
                mistake(where, f"no test is called {value}: {line}")
        elif option == "-L" and not any(re.fullmatch(value, label) for label in ("quick", "full", "campaign")):
            mistake(where, f"no test has a label {value}: {line}")


def check_cmake(where, line, words):
    count("commands of cmake")
    for option, value in zip(words, words[1:]):
        if option == "--preset" and value not in repository.presets:
            mistake(where, f"there is no preset {value}: {line}")
        if option in ("--build", "--install") and not value.startswith("-"):
            check_path(where, value)


def check_test_script(where, line, words):
    count("commands of ./test")
    campaign = next((value for option, value in zip(words, words[1:]) if option == "--campaign"), None)
    if campaign and campaign != "all" and not campaign.isupper() and campaign not in repository.campaigns:
        mistake(where, f"there is no campaign {campaign}: {line}")
    for word in words[1:]:
        if word != campaign and word not in SCRIPTS - {"--demo"}:
            mistake(where, f"./test does not know {word}: {line}")


def check_program(where, line, words):
    """A benchmark, a test program or a script, by its path."""
    count("commands of programs")
    check_path(where, words[0])
    sources = repository.programs.get("/".join(words[0].split("/")[2:]), [])
    for word in words[1:]:
        option, _, value = word.partition("=")
        if option == "--gtest_filter":
            names = repository.cases(sources)
            if not any(fnmatch.fnmatchcase(name, one) for name in names for one in value.split(":")):
                mistake(where, f"no case is called {value}: {line}")
        elif option.startswith("--") and not option.startswith("--gtest_") and option not in OTHERS:
            mistake(where, f"{words[0]} has no option {option}: {line}")


def check_line(where, line):
    """A line of a block, or a span of code, if it is a command of the project's. Whether it was one."""
    if re.match(r"(\./run|nustream) ", line):
        check_command(where, line)
        return True
    found = False
    for part in re.split(r"\s(?:&&|\|\|?|;)\s", line):
        try:
            words = shlex.split(part, comments=True)
        except ValueError:
            return found
        while words and re.match(r"[A-Z_]+=", words[0]):
            words = words[1:]
        head = words[0] if words else ""
        check = {"ctest": check_ctest, "cmake": check_cmake, "./test": check_test_script}.get(head)
        if check is None and re.match(r"(build|benchmarks|tests)/[\w/-]+$", head):
            check = check_program
        if check:
            check(where, line, words)
            found = True
    return found


IGNORED = [line.strip("/") for line in (root / ".gitignore").read_text().splitlines() if line.startswith("/")]
TOP = {path.name for path in root.iterdir() if path.is_dir() and path.name[0] != "." and path.name not in IGNORED}
CODE = [root / "include/nustream", root / "src", root / "streaming"]
ROOMS = {path.name for folder in CODE for path in folder.iterdir() if path.is_dir()}


def check_path(where, word):
    """A word that looks like a path of the project's: from its root, from docs/, of a room, or in a build folder."""
    first, *rest = word.rstrip("/").split("/")
    if not re.match(r"[\w.-]+/[\w./-]*$", word) or any(part.isupper() for part in rest) \
            or any(word.startswith(ignored + "/") for ignored in IGNORED if ignored != "build"):
        return
    if first == "build":
        there = word.rstrip("/") in OTHERS if rest[0] not in repository.presets \
            else len(rest) == 1 or "/".join(rest[1:]) in repository.programs
    elif first == "results":
        there = (root / "docs" / word).exists()
    elif first in TOP:
        there = (root / word).exists()
    elif first in ROOMS:
        there = any((folder / word).exists() for folder in CODE)
    else:
        return
    count("paths")
    if not there:
        mistake(where, f"there is no {word}")


def check_commands():
    programs = {path.rpartition("/")[2] for path in repository.programs} | set(repository.tests)
    for page in pages:
        for text in blocks(page, ""):
            for line in text.splitlines():
                if check_line(name_of(page), line.strip()):
                    for word in line.split():
                        check_path(name_of(page), word)
        prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M)
        for code in re.findall(r"`([^`]+)`", prose):
            check_line(name_of(page), code)
            for word in code.split():
                check_path(name_of(page), word)
            if re.fullmatch(r"\w+_test(_planted)?|(benchmark|reproduce)_\w+", code):
                count("programs")
                if code not in programs:
                    mistake(name_of(page), f"there is no program {code}")
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


def run_deployment_page():
    """Its first block makes what Compose mounts; what it hands to Docker has to name files that are there."""
    page = root / "docs/deployment.md"
    *made, last = next(blocks(page, ""), "").strip().splitlines()
    for file in re.findall(r"docker \S+(?: \S+)*? -f (\S+)", page.read_text()):
        count("paths")
        if not (root / file).is_file():
            mistake("docs/deployment.md", f"{file} is not there")
    if not last.startswith("docker compose "):
        mistake("docs/deployment.md", f"ends with {last}")
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(Path(folder, "docker"))
        for line in made:
            result = subprocess.run(line.replace("./run", shlex.quote(program), 1), shell=True, cwd=folder,
                                    capture_output=True, text=True, timeout=60)
            count("commands that were run")
            if result.returncode != 0:
                mistake("docs/deployment.md", f"{line} ended with {result.returncode}: {result.stderr.strip()}")
        for secret in ("key", "operator_token"):
            file = Path(folder, "docker/secrets", secret)
            if not file.is_file() or file.stat().st_size != 32 or file.stat().st_mode & 0o077:
                mistake("docs/deployment.md", f"does not make docker/secrets/{secret} of 32 bytes for its owner alone")
        user = Path(folder, "docker/.env")
        if not user.is_file() or not re.fullmatch(r"NUSTREAM_USER=\d+:\d+\n", user.read_text()):
            mistake("docs/deployment.md", "does not make docker/.env")


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


# ---- campaigns

# Counts that a page gives, and the constant that is run: by hand on the page, so that a change shows in both.
# And how the result of the campaign says it, once there is one.
COUNTS = [("docs/privacy.md", "pairs", "tests/simulation/coupling_test.cpp", "in_the_campaign",
           "coupling", '"pairs": "{}"'),
          ("docs/privacy.md", "more under faults", "tests/simulation/coupling_test.cpp",
           "under_faults_in_the_campaign", "coupling", '"pairs": "{}"'),
          ("docs/privacy.md", "histories", "tests/simulation/simulation_test.cpp", "in_the_campaign",
           "simulation", '"histories": "{}"'),
          ("tests/campaign/README.md", "histories", "tests/simulation/simulation_test.cpp", "in_the_campaign",
           "simulation", '"histories": "{}"')]


def check_result_counts(result, said):
    path = root / f"docs/results/{result}.json"
    if path.exists() and said not in re.sub(r"e\+0?(\d+)", lambda zeros: "0" * int(zeros[1]), path.read_text()):
        mistake(f"docs/results/{result}.json", f"it does not say {said}: the campaign ran with another count")


def check_fuzz_counts():
    path = root / "docs/results/fuzz.json"
    if not path.exists():
        return
    executed = json.loads(path.read_text())
    if sorted(executed) != sorted(each.name for each in (root / "tests/fuzz/corpus").iterdir()):
        mistake("docs/results/fuzz.json", "it has other kinds than tests/fuzz/corpus")
    for kind, of in executed.items():
        count("counts of campaigns")
        if of["executions"] < (10_000 if kind == "compressed" else 10_000_000):
            mistake("docs/results/fuzz.json", f"{kind} had {of['executions']} executions")


def check_campaigns():
    listed = re.findall(r"^\| `(\w+)` \|", (root / "tests/campaign/README.md").read_text(), re.M)
    if sorted(listed) != sorted(repository.campaigns):
        mistake("tests/campaign/README.md", f"other campaigns than ./test has: {set(listed) ^ set(repository.campaigns)}")
    for campaign in repository.campaigns:
        for name in sorted(repository.results(campaign)):
            count("results of campaigns")
            path = root / f"docs/results/{name}.json"
            if not path.exists():
                if "--all-results" in sys.argv:
                    mistake("docs/results", f"{name}.json is not here: ./test --campaign {campaign}")
                continue
            text = path.read_text()
            result = json.loads(text)
            reports = [result, *result.values()] if isinstance(result, dict) else []
            if any(not report["tests"] or report["failures"] or report.get("errors") or '"SKIPPED"' in text
                   for report in reports if isinstance(report, dict) and "tests" in report):
                mistake("docs/results", f"{name}.json holds failures, or tests that were skipped, or none")
    check_fuzz_counts()
    for page, what, source, constant, result, form in COUNTS:
        count("counts of campaigns")
        said = {found.replace(",", "") for found in re.findall(rf"(\d[\d,]*) {what}", (root / page).read_text())}
        run = re.search(rf"\b{constant} = ([\d']+);", (root / source).read_text())[1].replace("'", "")
        if said != {run}:
            mistake(page, f"it says {' and '.join(said) or 'nothing'} of {what}; {source} has {run}")
        check_result_counts(result, form.format(run))


# ---- examples in C++

def examples_of(page):
    """Fenced blocks of a page; of a header also what its comments indent, where it is code."""
    if page.suffix != ".h":
        yield from blocks(page, "cpp")
        return
    comments = re.findall(r"(?:^ *///.*\n)+", page.read_text(), re.M)
    for comment in comments:
        comment = re.sub(r"^ */// ?", "", comment, flags=re.M)
        yield from re.findall(r"^```(?:cpp)?\n(.*?)^```", comment, re.S | re.M)
        for text in re.findall(r"(?:^    .*\n)+", comment, re.M):
            if re.search(r"[;{]$", text, re.M):
                yield text


def check_example(where, text, compiled):
    """Its lines stand in the compiled source one after another; a comment that begins with … stands for others."""
    at = 0
    for part in re.split(r"^ *// ….*$", text, flags=re.M):
        lines = [line.strip() for line in part.splitlines() if line.strip()]
        there = [i for i in range(at, len(compiled) - len(lines) + 1) if compiled[i:i + len(lines)] == lines]
        if not there:
            return mistake(where, f"an example is not, line after line, in what tests/package compiles:\n{part.rstrip()}")
        at = there[0] + len(lines)


def check_examples():
    compiled = [line.strip() for line in (root / "tests/package/main.cpp").read_text().splitlines() if line.strip()]
    cmake = (root / "tests/package/CMakeLists.txt").read_text()
    for page in [*pages, *sorted(root.glob("include/**/*.h"))]:
        for text in examples_of(page):
            count("C++ examples")
            check_example(name_of(page), text, compiled)
        for text in blocks(page, "cmake"):
            count("CMake examples")
            if "find_package(nustream REQUIRED)" not in cmake or "nustream::core" not in cmake:
                mistake(name_of(page), "the package test does not use the library as the page says")


check_configurations()
check_keys()
check_commands()
run_pages_of_one_stream()
run_local_page()
run_deployment_page()
check_names()
check_campaigns()
check_examples()
for line in mistakes:
    print(line, file=sys.stderr)
print(", ".join(f"{number} {what}" for what, number in checked.items()))
sys.exit(1 if mistakes else 0)
