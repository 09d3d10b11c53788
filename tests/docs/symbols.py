"""Names in the code that pages give together with their files: each name stands in a file beside it, and each file holds
one of the names."""

import re

from pages import count, mistake, name_of, root


def rows(text):
    """The cells of each row of the tables in a text, without the rows of dashes."""
    for line in re.findall(r"^\|(.*)\|$", text, re.M):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)]
        if not all(re.fullmatch(r"-+", cell) for cell in cells):
            yield cells


def names_in(cell):
    return re.findall(r"`([\w:]+)`", cell)


def files_in(page, cell):
    return [(page.parent / target).resolve() for target in re.findall(r"\]\(([^)#\s]+)\)", cell)]


def check_names_stand_in_files(page, row, names, files):
    where = f"{name_of(page)}, {row}"
    if not names or not files:
        mistake(where, "there is no name, or no file that it stands in")
    texts = {file: file.read_text() if file.is_file() else None for file in files}
    for file in [file for file, text in texts.items() if text is None]:
        mistake(where, f"there is no {file.relative_to(root)}")
    words = {file: set(re.findall(r"\w+", text or "")) for file, text in texts.items()}
    for name in names:
        count("names with their files")
        # both parts of A::b stand in the file, unless A is the namespace of its folder
        if not any(set(name.split("::")[-2:]) <= words[file] | {file.parent.name} for file in files):
            mistake(where, f"{name} stands in none of its files")
    for file in files:
        if not any(name.split("::")[-1] in words[file] for name in names):
            mistake(where, f"{file.relative_to(root)} holds none of {', '.join(names)}")


def check_notation():
    page = root / "docs/notation.md"
    for symbol, names, files, *_ in rows(page.read_text()):
        if symbol != "symbol":
            check_names_stand_in_files(page, symbol, names_in(names), files_in(page, files))
