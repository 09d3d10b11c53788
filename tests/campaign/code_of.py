#!/usr/bin/env python3
"""code_of.py FILE [--list | --beside]: prints 16 hexadecimal digits that name the committed code which a program runs. FILE
is the program's main file. Its code is that file, every header that it includes, directly or through others, and the
sources that implement these headers.

In the core every source of a header's room implements the header if it includes it, directly or through others of that
room. Elsewhere the source of the header's name does; in streaming/ so does each source of the same room that includes the
header and has no header of its own.

--list prints the paths instead, and --beside the files of the product that are not part of this code."""
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
    """The room of a file: its folder below include/nustream, src or streaming, which a header and its sources share."""
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
    """The headers that a file of the core includes from its own room and from rooms that its folder lies in, directly or
    through one another."""
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
    """The CMake file that may compile a source with options of its own."""
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


# A text in quotes, raw or not, is code whatever it holds; a comment is not code.
TEXT_OR_COMMENT = re.compile(r'''R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|//[^\n]*|/\*.*?\*/''', re.S)


SPACE = re.compile(r"(\w?)\s+(?=(\w?))")


def without_form(text):
    """C++ without comments and without the white space that the form of the sources puts between tokens. Lines of the
    preprocessor stay lines, and a text that the form broke into several is one."""
    parts, end = [], 0
    for found in TEXT_OR_COMMENT.finditer(text):
        parts.append((False, text[end:found.start()]))
        if not found[0].startswith(("//", "/*")):
            parts.append((True, found[0]))
        end = found.end()
    parts.append((False, text[end:]))
    out = ""
    for is_text, part in parts:
        if not is_text:
            part = re.sub(r"^[ \t]*(#.*(?:\\\n.*)*)$", "\0\\1\0", part, flags=re.M)
            part = SPACE.sub(lambda space: space[1] + (" " if space[1] and space[2] else ""), part)
        elif out.endswith('"') and part.startswith('"'):
            out, part = out[:-1], part[1:]
        out += part
    return out


def compiled(path):
    """What is compiled of the committed file: comments, empty lines and line breaks are left out, so that a better comment
    or another form leaves a result valid."""
    text = subprocess.run(["git", "show", f"HEAD:{path}"], check=True, capture_output=True, text=True).stdout
    if path.endswith(".cmake"):
        lines = (line.strip() for line in text.splitlines())
        return "".join(f"{line}\n" for line in lines if line and not line.startswith("#"))
    return without_form(text)


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
