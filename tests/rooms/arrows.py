#!/usr/bin/env python3
"""Includes between rooms point down: from a room to rooms that stand strictly below it, never beside or above it.

Usage: arrows.py ROOT

A room is a folder of the core (include/nustream/ROOM with src/ROOM) or of the service (streaming/ROOM). Rooms of one
row below stand beside each other. A file may include its own room and whatever stands in a lower row; the whole core
stands below the service. A room that is in no row is an error too, so that a new one gets its place on purpose.
"""
import pathlib
import re
import sys

CORE = [
    ["base"],
    ["record", "noise"],
    ["model", "privacy"],
    ["descent"],
    ["users"],
    ["lane", "inference"],
    ["moments"],
    ["ranges"],
]

SERVICE = [
    [""],  # files without a room: error.h, located.h, numbered_lines.h, shell_word.h, version.h
    ["secrets", "publish", "chart"],  # keys and seals; what a release says; pictures
    ["log"],  # what an operator reads, a line at a time
    ["config", "journal"],  # the settings of everything above; durable batches
    ["decode", "serve", "users"],  # bytes to rows; the listeners; the store of users
    ["kafka"],
    ["engine"],  # what all commands do with a lane
    ["check"],  # what records would meet, told to the operator alone
    ["folder", "console"],  # a lane in a folder; what a person at a terminal sees and types
    ["measure"],  # settings that are measured, in an epoch of their own
    ["report"],  # a run as a file to show
    ["replay", "attach", "estimate", "fit", "solve", "verify", "csv", "local", "recording", "audit"],  # commands
    ["cli"],
]

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def rows_of(table):
    return {room: row for row, rooms in enumerate(table) for room in rooms}


def included_room(root, file, target, bases):
    """(part, room) of an included file, which is looked for beside `file` and below the bases; None for other headers."""
    for part, base in bases:
        for path in (file.parent / target, root / base / target):
            path = path.resolve()
            if path.is_file() and path.is_relative_to((root / base).resolve()):
                parts = path.relative_to((root / base).resolve()).parts
                return part, parts[0] if len(parts) > 1 else ""
    return None


def wrong_arrows(root):
    root = pathlib.Path(root)
    bases = [("core", "include/nustream"), ("core", "src"), ("service", "streaming")]
    lookup = [("core", "include"), *bases]
    rows = {"core": rows_of(CORE), "service": rows_of(SERVICE)}
    for part, base in bases:
        for file in sorted((root / base).rglob("*")):
            if file.suffix not in (".h", ".cpp"):
                continue
            parts = file.relative_to(root / base).parts
            room = parts[0] if len(parts) > 1 else ""
            if part == "core" and room == "":
                continue
            name = file.relative_to(root)
            if room not in rows[part]:
                yield f"{name}: the room '{room}' has no row in tests/rooms/arrows.py: give it one"
                continue
            for target in INCLUDE.findall(file.read_text()):
                found = included_room(root, file, target, lookup)
                if found is None:
                    continue
                other_part, other = found
                if other == "nustream":  # include/nustream/ROOM/…, found from include/
                    other = target.split("/")[1] if target.count("/") > 1 else ""
                if other_part == "core" and other == "":
                    continue
                if part == "core" and other_part == "service":
                    yield f"{name}: the core includes the service: {target}"
                    continue
                if part != other_part or other == room:
                    continue
                if rows[part].get(other, len(rows[part])) >= rows[part][room]:
                    yield f"{name}: '{room}' includes '{other}', which is not below it: {target}"


def main():
    wrong = list(wrong_arrows(sys.argv[1]))
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
