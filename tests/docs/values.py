"""Asks the program whether it takes the values on documented command lines, in a place where it finds nothing to run."""

import os
import re
import shlex
import tempfile
from pathlib import Path

from configurations import write_bases
from pages import count, mistake, nustream, root

SETTING = r"([a-z_]+(?:\.[a-z_0-9]+)+)"
ENVIRONMENT = {**os.environ, "NUSTREAM_KEY_FILE": "key"}  # as pages name it


def is_placeholder(value):
    return re.fullmatch(r"[A-Z_]+|[a-zα-ω]|value|.*….*", value)


def check(file, settings, folder):
    """What nustream check finds wrong."""
    overrides = [word for key, value in settings for word in ("--set", f"{key}={value}")]
    result = nustream(["check", file, *overrides], folder, env=ENVIRONMENT)
    return result.stderr.strip() if result.returncode != 0 else ""


def check_of_bases(settings):
    """What check finds wrong on each small configuration; at least one of these should know the settings."""
    with tempfile.TemporaryDirectory() as folder:
        return [check(base, settings, folder) for base in write_bases(folder)]


SECTIONS = check_of_bases([("is_none_of_them.key", "1")])[0].partition("known here: ")[2].split(", ")
assert "stream" in SECTIONS, SECTIONS


def check_settings(where, settings, text):
    for key, value in settings:
        count("settings on command lines")
        errors = check_of_bases([(key, "1")])
        if all(re.search("unknown key|is one of several", error) for error in errors):
            return mistake(where, f"there is no {key}: {text}: {errors[0]}")
    # All settings are tried together, since one may need another. An error about another key does not count: it is the
    # small configuration's.
    errors = check_of_bases([(key, value) for key, value in settings if not is_placeholder(value)])
    if all(re.search("error: --set|unknown key|is one of several|only together", error) for error in errors):
        mistake(where, f"it sets what no configuration takes: {text}: {errors[0]}")


def said_by_parser(command, words):
    """Empty, or why this is no command line. In an empty folder there is no configuration to go on with."""
    words = ["1" if is_placeholder(word) else word for word in words]
    with tempfile.TemporaryDirectory() as folder:
        results = [nustream([*command, *more, *words], folder, input="") for more in ([], ["CONFIG"])]
    return "" if any(result.returncode != 64 for result in results) else results[-1].stderr.strip()


def check_parsed(where, commands, words, text):
    """One of the commands has to take these words."""
    count("command lines that were parsed")
    said = [said_by_parser(command, words) for command in commands]
    if all(said):
        mistake(where, f"{min(said, key=lambda one: 'not expected' in one)}: {text}")


def taken_apart(words):
    """The settings among the words, behind --set or by themselves, and the other words."""
    settings, others = [], []
    for word, before in zip(words, ["", *words]):
        setting = re.fullmatch(rf"{SETTING}=(.+)", word.removeprefix("--set="), re.S)
        if setting and before != "-X" and (before == "--set" or setting[1].split(".")[0] in SECTIONS):
            settings.append(setting.groups())
        elif word not in ("--set", "--demo"):  # --demo is ./run's
            others.append(word)
    return [setting for setting in settings if setting[0] != "section.key"], others


def words_of(text):
    """The words of one command: those before its comment, before a remark behind two spaces and before the next command."""
    try:
        words = shlex.split(re.split(r" {2,}", text)[0], comments=True)
    except ValueError:
        return []
    for end in (">", "|", "&&", ";"):
        words = words[:words.index(end)] if end in words else words
    return [word.strip("[]") for word in words if "…" not in word or "=" in word]


def check_values(where, text, helps):
    """Checks a line of a block, or a span of code; `helps` has the help of each command, by its words."""
    text = text.strip()
    setting = re.fullmatch(rf"{SETTING} = (\S.*)", text)
    if setting and setting[1].split(".")[0] in SECTIONS:
        return check_settings(where, [setting.groups()], text)
    words = words_of(text)
    is_whole = words[:1] in (["nustream"], ["./run"])
    settings, words = taken_apart(words[1:] if is_whole else words)
    file = next((word for word in words if word.endswith(".toml") and Path(root, word).is_file()), None)
    if file and is_whole:
        count("configurations on command lines")
        if error := check(file, [pair for pair in settings if not is_placeholder(pair[1])], root):
            mistake(where, f"nustream check refuses the configuration of: {text}: {error}")
    elif settings:
        check_settings(where, settings, text)
    command = next((names for names in helps if names and words[:len(names)] == list(names)), None)
    if command and len(words) > len(command) + (0 if is_whole else 1):
        check_parsed(where, [command], words[len(command):], text)
    elif not is_whole and len(words) > 1 and re.match("--?[a-zA-Z]", words[0]):
        knowing = [names for names, said in helps.items()
                   if names and re.search(rf"(?<![\w-]){re.escape(words[0])}\b", said or "")]
        if knowing:  # or it is another program's
            check_parsed(where, knowing, words, text)
