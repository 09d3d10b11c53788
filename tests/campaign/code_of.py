#!/usr/bin/env python3
"""code_of.py FILE: names the committed code that a program runs, in 16 digits, by its main file: that file, every header
that is included from there, and what implements those. A header is implemented by the file of its name, and in the
product also by those files of its room that include it and have no header of their own; in the core by every file of
its room that includes it, be it through others of that room. --list prints the paths in place of their name; --beside,
what of the product this is not."""
import functools
import hashlib
import os
import pathlib
import re
import subprocess
import sys

FOLDERS = [pathlib.Path(name) for name in ("include", "streaming", "src", "tests/support",
                                             "tests/fuzz", "benchmarks")]
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
    return [pathlib.Path(os.path.normpath(file)) for file in found if file]


@functools.cache
def own_headers(source):
    return [header for header in included(source)
            if header.name == f"{source.stem}.h" and room(header) in ("", room(source))]


@functools.cache
def included_within(path):
    """Headers of its own room, or one that this is part of, that a file of the core includes, and those that they do."""
    found, left = set(), [path]
    while left:
        within = {header for header in included(left.pop()) if f"{room(path)}/".startswith(f"{room(header)}/")} - found
        found |= within
        left += within
    return found


def implements(source, header):
    if source.parts[0] == "src":
        return header in included_within(source)
    own = own_headers(source)
    if own:
        return header in own
    return source.parts[0] == "streaming" and header in included(source) and room(source) == room(header)


def flags(path):
    """What compiles a file with options of its own."""
    if path.parts[0] == "tests":
        file = pathlib.Path("tests/rooms", f"{path.parent.name}.cmake")
    else:
        file = path.parent / "sources.cmake"
    return [file] if file.is_file() and re.search("PROPERTIES|definitions", file.read_text()) else []


def code_of(main_file):
    found, left = set(), [pathlib.Path(main_file)]
    while left:
        path = left.pop()
        if path in found:
            continue
        found.add(path)
        left += included(path)
        left += flags(path)
        left += (source for source in SOURCES if path.suffix == ".h" and implements(source, path))
    return sorted(str(path) for path in found | ALWAYS)


# A text in quotes, raw or not, is code whatever it holds; a comment is none.
TEXT_OR_COMMENT = re.compile(r'''R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|//[^\n]*|/\*.*?\*/''', re.S)


def compiled(path):
    """The committed file without its comments and without white space at the ends of lines, so that words that are put
    better leave a result as it is."""
    text = subprocess.run(["git", "show", f"HEAD:{path}"], check=True, capture_output=True, text=True).stdout
    if not path.endswith(".cmake"):
        text = TEXT_OR_COMMENT.sub(lambda found: "" if found[0].startswith(("//", "/*")) else found[0], text)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines() if line.strip())


def beside(main_file):
    product = (file for folder in ("include", "src", "streaming") for file in pathlib.Path(folder).rglob("*.[chi]*"))
    return sorted({str(file) for file in product if file.suffix in (".cpp", ".h", ".inc")} - set(code_of(main_file)))


def main():
    if "--beside" in sys.argv:
        return print("\n".join(beside(sys.argv[1])))
    paths = code_of(sys.argv[1])
    if "--list" in sys.argv:
        return print("\n".join(paths))
    print(hashlib.sha256("".join(map(compiled, paths)).encode()).hexdigest()[:16])


if __name__ == "__main__":
    main()
