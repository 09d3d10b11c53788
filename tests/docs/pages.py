"""The documentation's pages, the program that they are about, and what was found wrong with them."""

import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from repository import Repository

root, program = Path(sys.argv[1]).resolve(), str(Path(sys.argv[2]).resolve())
repository = Repository(root)
pages = sorted([*root.glob("*.md"), root / "benchmarks/README.md", root / "tests/campaign/README.md",
                *root.glob("docs/**/*.md"), *root.glob("examples/**/*.md")])
os.environ["XDG_CONFIG_HOME"] = tempfile.mkdtemp()  # keys of what is run here never go to the user's own folder
atexit.register(shutil.rmtree, os.environ["XDG_CONFIG_HOME"], ignore_errors=True)
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
    for found in re.finditer(r"^ *```(\w*)\n(.*?)^ *```", page.read_text(), re.S | re.M):
        if language is None or found[1] == language:
            yield found[2]


def name_of(page):
    return str(page.relative_to(root))
