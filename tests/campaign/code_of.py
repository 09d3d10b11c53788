#!/usr/bin/env python3
"""code_of.py FILE: names the committed code that a program runs, in 16 digits, by its main file: that file, every header
that is included from there, and what implements those. A header is implemented by the file of its name, and in the
product also by those files of its room that include it and have no header of their own. --list prints the paths in place
of their name; --without-header, of the product's sources those that implement no header."""
import functools
import hashlib
import pathlib
import re
import subprocess
import sys

FOLDERS = [pathlib.Path(name) for name in ("include", "streaming", "src", "src/planted", "tests/support",
                                             "tests/fuzz", "benchmarks")]
PRODUCT = ("src", "streaming")
ALWAYS = {pathlib.Path("cmake/NustreamCompile.cmake")}
SOURCES = sorted({file for folder in FOLDERS for file in folder.rglob("*.cpp")})


def room(path):
    """The folder of a header and of what implements it, which for the core are in include/nustream and in src."""
    return re.sub(r"^(include/nustream|src|streaming)(/|$)", "", str(path.parent))


@functools.cache
def included(path):
    names = re.findall(r'^#include "([^"]+)"', path.read_text(), re.M)
    found = (next((folder / name for folder in (path.parent, *FOLDERS) if (folder / name).is_file()), None)
             for name in names)
    return [pathlib.Path(*_without_dots(file)) for file in found if file]


def _without_dots(path):
    parts = []
    for part in path.parts:
        parts = parts[:-1] if part == ".." else [*parts, part]
    return parts


@functools.cache
def own_headers(source):
    return [header for header in included(source)
            if header.name == f"{source.stem}.h" and room(header) in ("", room(source))]


def implements(source, header):
    own = own_headers(source)
    if own:
        return header in own
    return source.parts[0] in PRODUCT and header in included(source) and f"{room(source)}/".startswith(f"{room(header)}/")


def code_of(main_file):
    found, left = set(), [pathlib.Path(main_file)]
    while left:
        path = left.pop()
        if path in found:
            continue
        found.add(path)
        left += included(path)
        left += (source for source in SOURCES if path.suffix == ".h" and implements(source, path))
    return sorted(str(path) for path in found | ALWAYS)


def without_header():
    headers = [header for folder in FOLDERS[:3] for header in folder.rglob("*.h")]
    return [source for source in SOURCES
            if source.parts[0] in PRODUCT and not any(implements(source, header) for header in headers)]


def main():
    if sys.argv[1] == "--without-header":
        return print("\n".join(map(str, without_header())))
    paths = code_of(sys.argv[1])
    if "--list" in sys.argv:
        return print("\n".join(paths))
    trees = subprocess.run(["git", "rev-parse", *(f"HEAD:{path}" for path in paths)], check=True, capture_output=True)
    print(hashlib.sha256(trees.stdout).hexdigest()[:16])


if __name__ == "__main__":
    main()
