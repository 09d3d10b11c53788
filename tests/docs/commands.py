"""Every command that a page names exists with its options: commands of the program, of ctest and cmake, ./test with its
campaigns, and other programs by their paths."""

import fnmatch
import re
import shlex

from pages import blocks, count, mistake, name_of, nustream, pages, repository, root
from paths import OTHERS, check_path
from values import check_values


def help_of(words):
    result = nustream([*words, "--help"], root)
    return result.stdout if result.returncode == 0 else None


GROUPS = {"local", "key", "users", "account"}  # their commands have a second word
HELPS = {}
for one in [[], ["plan"], ["audit"], ["replay"], ["estimate"], ["fit"], ["solve"], ["verify"], ["export"], ["local", "randomize"], ["local", "collect"], ["attach"],
            ["record"], ["topics"], ["check"], ["inspect"], ["users", "close"], ["users", "end"], ["key", "new"], ["account", "new"], ["account", "show"], ["account", "reserve"],
            ["key", "rotate"]]:
    HELPS[tuple(one)] = help_of(one)
COMMANDS = {words[0] for words in HELPS if words} | GROUPS
SOURCES = [path.read_text() for folder in ("streaming", "src")
           for kind in ("*.cpp", "*.h") for path in (root / folder).rglob(kind)]
SCRIPTS = {"--demo", "--quick", "--docs", "--campaign", "--again", "--help"}  # of ./run and ./test


def check_command(where, line):
    if any(f'"{line}' in text for text in SOURCES):
        return  # it is a label that keys are derived with
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
    if words[1] in GROUPS and len(words) > 2:
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
    """Checks a benchmark, a test program or a script that is named by its path."""
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
    """Checks a line of a block, or a span of code, if it is a command of the project's; returns whether it is one."""
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


def check_commands():
    programs = {path.rpartition("/")[2] for path in repository.programs} | set(repository.tests)
    for page in pages:
        for text in blocks(page, ""):
            for line in text.splitlines():
                check_values(name_of(page), line, HELPS)
                if check_line(name_of(page), line.strip()):
                    for word in line.split():
                        check_path(name_of(page), word)
        prose = re.sub(r"^ *```.*?^ *```", "", page.read_text(), flags=re.S | re.M)
        for code in re.findall(r"`([^`]+)`", prose):
            check_line(name_of(page), code)
            check_values(name_of(page), " ".join(code.split()), HELPS)
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
