#!/usr/bin/env python3
"""Writes tests/golden/versions/VERSION: what this version of nustream leaves behind when it is stopped, for later versions
to go on with. It is run once for each version that is published, and never again for an older one. It is also run where one
version comes to write another format: 0.1.0-ledger3, for example, has the ledger's format 3.

Usage: make_version.py NUSTREAM VERSION_FOLDER

There is one rows.csv, and each folder NAME holds stream.toml and state/: what is there after the first STOPPED rows of
the input, under an insecure seed, so that no key has to be kept in the repository."""

import pathlib
import random
import subprocess
import sys

ROWS, STOPPED, SEED = 1000, 600, "11"

COMMON = """[stream]
name = "golden"
input = "../rows.csv"
[target]
column = "y"
[[features]]
column = "x"
[privacy]
rho = 0.5
delta = 1e-6
{privacy}
[release]
every = {every}
[state]
commit_records = 50
{rest}
"""

DESCENT = """[noise]
nu = 0.01
[descent]
step_size = 0.01
clip_norm = 1.0
average = "tail"
average_from = 200
"""

SETTINGS = {
    "descent": ("", 100, DESCENT),
    "moments": ("", 100, "[model]\nestimator = \"moments\"\n[moments]\nrow_norm = 2.0\nresidual_bound = 3.0\n"),
    "users": ("unit = \"user\"\nuser = \"user\"", 10, DESCENT + "minibatch = 10\n[users]\nparticipations = 3\nseparation = 4\n"),
}


def rows():
    draw = random.Random(7)
    yield "x,y,user"
    for i in range(ROWS):
        x = 3 * (draw.random() - 0.5)
        y = "unusable" if i % 97 == 96 else f"{1 - 0.5 * x + draw.random() - 0.5:.6f}"
        yield f"{x:.6f},{y},u{draw.randrange(150)}"


def main():
    nustream, version = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    version.mkdir(parents=True)
    (version / "rows.csv").write_text("\n".join(rows()) + "\n")
    for name, (privacy, every, rest) in SETTINGS.items():
        folder = version / name
        folder.mkdir()
        (folder / "stream.toml").write_text(COMMON.format(privacy=privacy, every=every, rest=rest))
        subprocess.run([nustream, "replay", "stream.toml", "--to", str(STOPPED), "--insecure-seed", SEED, "--quiet", "--set",
                        "state.directory=\"state\""], cwd=folder, check=True)


if __name__ == "__main__":
    main()
