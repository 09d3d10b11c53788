#!/usr/bin/env python3
"""apply.py ROOT OUT: applies all of tests/planted/*.patch to a copy of the sources that they change, below OUT. Each patch
is written against the sources as they are, so that it can be read alone, and applied alone by patch -p1. Two patches that
change the same lines are refused. A file is written only where it differs from the one that is there.

apply.py ROOT: writes nothing, and checks that the patches apply and that each one holds what it has to."""
import pathlib
import re
import sys

SWITCH = re.compile(r'NUSTREAM_PLANTED\("([a-z0-9-]+)"\)')
HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@")


class Refused(Exception):
    """A patch that does not apply, or does not hold what it has to."""


def hunks_of(patch):
    """(file, line, old lines with their marks) of every hunk."""
    file = None
    found = []
    for line in patch.read_text().splitlines():
        if line.startswith("+++ b/"):
            file = line.removeprefix("+++ b/")
        elif match := HUNK.match(line):
            found.append((file, int(match[1]) - 1, []))
        elif found and not line.startswith("--- "):
            found[-1][2].append(line or " ")
    return found


def place_of(old, lines, near):
    """Where the lines are in the file: of several places the one that is nearest to the patch's own."""
    places = [at for at in range(len(lines) - len(old) + 1) if lines[at:at + len(old)] == old]
    if not places:
        raise Refused("its lines are not in the file any more: write it anew")
    return min(places, key=lambda at: abs(at - near))


def edits_of(marked, at):
    """(begin, end, new lines) for each run of changed lines of a hunk that begins at line `at`."""
    edits = []
    begin = None
    for line in marked + [" "]:
        if line[0] == " ":
            if begin is not None:
                edits.append((begin, at, new))
            begin = None
            at += 1
            continue
        if begin is None:
            begin, new = at, []
        if line[0] == "-":
            at += 1
        else:
            new.append(line[1:])
    return edits


def edits_by_file(root, patches):
    """What all patches change: {file: [(begin, end, new lines, name of the patch)]}; and the lines of these files."""
    found = {}
    texts = {}
    for patch in patches:
        try:
            for file, near, marked in hunks_of(patch):
                lines = texts.setdefault(file, (root / file).read_text().splitlines())
                at = place_of([line[1:] for line in marked if line[0] != "+"], lines, near)
                found.setdefault(file, []).extend((*edit, patch.stem) for edit in edits_of(marked, at))
        except (Refused, OSError) as failure:
            raise Refused(f"{patch.name}: {failure}") from None
    return found, texts


def patched(lines, edits):
    """The lines with all edits; those that only insert may share a place."""
    out = []
    done = 0
    before = None
    for begin, end, new, name in sorted(edits, key=lambda edit: edit[:2] + (edit[3],)):
        if begin < done:
            raise Refused(f"{name}.patch and {before}.patch change the same lines: write one of them beside the other")
        out += lines[done:begin] + new
        done, before = end, name
    return "\n".join(out + lines[done:]) + "\n"


def check(patch):
    """A patch says what the program would do and what catches the bug, and has the switch of its own name alone."""
    head, _, _ = patch.read_text().partition("\n--- ")
    added = [line for _, _, marked in hunks_of(patch) for line in marked if line[0] == "+"]
    if not head[:1].isalnum() and head[:1] not in "∇σγ‖Δ":
        raise Refused(f"{patch.name}: it does not begin with what the program would do")
    if not re.search(r"^Caught-by: (test|contract|audit|broker) \S+", head, re.M):
        raise Refused(f"{patch.name}: it does not say what has to catch it (Caught-by: …)")
    if set(SWITCH.findall("\n".join(added))) != {patch.stem}:
        raise Refused(f'{patch.name}: what it adds is not behind NUSTREAM_PLANTED("{patch.stem}")')


def main(root, out=None):
    patches = sorted((root / "tests/planted").glob("*.patch"))
    for patch in patches:
        check(patch)
    edits, texts = edits_by_file(root, patches)
    for file in edits:
        text = patched(texts[file], edits[file])
        if out is None:
            continue
        target = out / file
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_text() != text:
            target.write_text(text)
    left = [str(path.relative_to(root)) for folder in ("include", "src", "streaming")
            for path in (root / folder).rglob("*") if path.is_file() and "NUSTREAM_PLANT" in path.read_text()]
    if left:
        raise Refused(f"{', '.join(left)}: shipped sources hold no planted bug: make it a patch of tests/planted")
    return len(patches)


if __name__ == "__main__":
    try:
        count = main(pathlib.Path(sys.argv[1]), *map(pathlib.Path, sys.argv[2:]))
    except Refused as refusal:
        sys.exit(f"planted bugs: {refusal}")
    if len(sys.argv) == 2:
        print(f"{count} patches apply")
