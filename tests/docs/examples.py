"""Examples in C++, of pages and of headers, stand in the source that the package test compiles."""

import re

from pages import blocks, count, mistake, name_of, pages, root


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
    """Its lines stand in the compiled source one after another; a comment that begins with … stands for lines left out."""
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
