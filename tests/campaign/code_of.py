#!/usr/bin/env python3
"""code_of.py FILE: names the committed code that a program runs, in 16 digits, by its main file: the core, that file and
the test headers that it includes, and of the service each whole room that one of these includes, with the rooms that
those include. --list prints the paths in place of their name."""
import hashlib
import pathlib
import re
import subprocess
import sys

FOLDERS = [pathlib.Path(name) for name in ("tests/fuzz", "tests/support", "streaming")]
ALWAYS = {pathlib.Path(name) for name in ("include", "src", "cmake/NustreamCompile.cmake")}


def included(path):
    """Rooms and files that the file or room `path` includes; the core's headers are in ALWAYS."""
    files = [path] if path.is_file() else sorted(path.glob("*.[hc]*"))
    for name in re.findall(r'^#include "([^"]+)"', "\n".join(file.read_text() for file in files), re.M):
        room = pathlib.Path("streaming", name).parent
        if "/" in name and room.is_dir():
            yield room
            continue
        header = next((folder / name for folder in FOLDERS if (folder / name).is_file()), None)
        if header:
            yield from (file for file in (header, header.with_suffix(".cpp")) if file.is_file())


def code_of(main_file):
    found, left = set(), [pathlib.Path(main_file)]
    while left:
        path = left.pop()
        if path not in found:
            found.add(path)
            left += included(path)
    return sorted(str(path) for path in found | ALWAYS)


def main():
    paths = code_of(sys.argv[1])
    if "--list" in sys.argv:
        return print("\n".join(paths))
    trees = subprocess.run(["git", "rev-parse", *(f"HEAD:{path}" for path in paths)], check=True, capture_output=True)
    print(hashlib.sha256(trees.stdout).hexdigest()[:16])


if __name__ == "__main__":
    main()
