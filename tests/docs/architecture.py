"""ARCHITECTURE.md shows the rooms as they are: its tables and its drawing are those of tests/rooms/arrows.py, and every
folder of sources is one of them. commands.py looks whether its paths exist, as on every page."""

import re
import sys

from pages import blocks, count, mistake, root
from symbols import check_names_stand_in_files, files_in, names_in, rows

sys.path.insert(0, str(root / "tests/rooms"))
from arrows import CORE, SERVICE  # noqa: E402

NAME = "ARCHITECTURE.md"
PARTS = {"core": (CORE, "c", ["include/nustream", "src"]), "service": (SERVICE, "s", ["streaming"])}


def section(text, title):
    """The table below the line that is the title."""
    found = re.search(rf"^{title}\n\n((?:\|.*\n)+)", text, re.M)
    return found[1] if found else ""


def check_table(text, part, table):
    shown = {(int(row), name) for row, room, *_ in rows(section(text, f"Rooms of the {part}:")) if row.isdigit()
             for name in names_in(room)}
    there = {(number, room) for number, rooms in enumerate(table, 1) for room in rooms if room}
    for row, room in sorted(shown | there):
        count("rooms")
        if (row, room) not in shown & there:
            mistake(NAME, f"the room {room} of the {part} in row {row} is " +
                    ("shown, and not in arrows.py" if (row, room) in shown else "in arrows.py, and not shown"))
    return {room for _, room in shown}


def check_folders(shown, part, folders):
    there = {path.name for folder in folders for path in (root / folder).iterdir() if path.is_dir()}
    for room in sorted(shown ^ there):
        mistake(NAME, f"{room} is a folder of the {part}, and not shown" if room in there else
                f"there is no folder of the room {room} of the {part}")


def check_drawing(drawing, part, table, letter):
    """A box for each row that has rooms, and from each to the next lower one an arrow."""
    boxes = {int(number): label.split(" · ") for number, label in re.findall(rf'\b{letter}(\d+)\["([^"]*)"\]', drawing)}
    wanted = {number: rooms for number, rooms in enumerate(table, 1) if rooms != [""]}
    for number in sorted(boxes.keys() | wanted.keys()):
        count("boxes of rooms")
        if sorted(boxes.get(number, [])) != sorted(wanted.get(number, [])):
            mistake(NAME, f"the drawing's row {number} of the {part} shows {boxes.get(number)}, and it is {wanted.get(number)}")
    plain = re.sub(r'\["[^"]*"\]', "", drawing)
    arrows = {(int(a), int(b)) for line in plain.splitlines() if re.match(rf"\s*{letter}\d", line)
              for ids in [re.findall(r"\d+", line)] for a, b in zip(ids, ids[1:])}
    if arrows != {(number, number - 1) for number in wanted if number - 1 in wanted}:
        mistake(NAME, f"the drawing's arrows of the {part} do not lead from each row to the one below")


def check_architecture():
    page = root / NAME
    text = page.read_text()
    drawing = next((block for block in blocks(page, "mermaid") if "subgraph service" in block), "")
    for part, (table, letter, folders) in PARTS.items():
        check_folders(check_table(text, part, table), part, folders)
        check_drawing(drawing, part, table, letter)
    happens = re.search(r"^## Where things happen\n\n((?:\|.*\n)+)", text, re.M)
    for what, names, files in rows(happens[1] if happens else ""):
        if what != "what":
            check_names_stand_in_files(page, what, names_in(names), files_in(page, files))
