"""Checks that paths exist; and knows the options of the project's own benchmarks and campaigns."""

import re

from pages import count, mistake, repository, root


def options_of_programs():
    """The sources of the project's own benchmarks and campaigns as one text, in which their options stand."""
    text = ""
    for folder in ("benchmarks", "tests/campaign"):
        for path in (root / folder).rglob("*"):
            if path.is_file() and path.suffix in (".cpp", ".h", "", ".py", ".sh"):
                text += path.read_text(errors="ignore")
    return text


OTHERS = options_of_programs()
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
