#!/usr/bin/env python3
"""Writes tests/golden/versions/VERSION: what this version of nustream leaves behind when it is stopped, for later versions
to go on with. It is run once for each version that is published, and never again for an older one. It is also run where one
version comes to write another format: 0.1.0-ledger3, for example, has the ledger's format 3. golden_versions_test fails
where the newest folder has an older format of the state than this version writes.

Usage: make_version.py NUSTREAM VERSION_FOLDER

There is one rows.csv, and each folder NAME holds stream.toml and state/: what is there after the first STOPPED rows of
the input. Most are under an insecure seed, so that what follows is known to the byte. Where golden.key lies beside
stream.toml, the run was private, under that key, and was resumed once on its way: before/ is a copy from then, and the
witness, which lies there too, tells of what came later. Where there is a file people, the run was charged to that account.
These keys are of made-up rows and protect nobody."""

import pathlib
import random
import shutil
import subprocess
import sys

ROWS, STOPPED, RESUMED, SEED = 1000, 600, 200, "11"

COMMON = """[stream]
name = "golden"
input = "../rows.csv"
{stream}[target]
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

STEPS = """[descent]
step_size = 0.01
clip_norm = 1.0
average = "tail"
average_from = 200
"""
DESCENT = """[noise]
nu = 0.01
""" + STEPS
OF_USERS = "unit = \"user\"\nuser = \"user\""
LIMITS = DESCENT + "minibatch = 10\n[users]\nparticipations = 3\nseparation = 4\n"
# A correlation that reads old seed noise again, so that a state holds the segments of each life.
SEGMENTS = "[noise]\ncorrelation = \"nu\"\nnu = 0.01\nhorizon = 2000\n" + STEPS

SETTINGS = {
    "descent": {"rest": DESCENT},
    "moments": {"rest": "[model]\nestimator = \"moments\"\n[moments]\nrow_norm = 2.0\nresidual_bound = 3.0\n"},
    "users": {"privacy": OF_USERS, "every": 10, "rest": LIMITS},
    "period": {"stream": "time = \"at\"\n", "privacy": OF_USERS, "every": 10,
               "rest": LIMITS + "period = \"PT1H\"\ntimes = \"trusted\"\n"},
    "private": {"rest": SEGMENTS},
    "account": {"rest": DESCENT},
}
PRIVATE = ("private", "account")


def rows():
    draw = random.Random(7)
    yield "at,x,y,user"
    for i in range(ROWS):
        x = 3 * (draw.random() - 0.5)
        y = "unusable" if i % 97 == 96 else f"{1 - 0.5 * x + draw.random() - 0.5:.6f}"
        yield f"2026-01-01T{i // 60:02}:{i % 60:02}:00Z,{x:.6f},{y},u{draw.randrange(150)}"


def replay(nustream, folder, *options):
    subprocess.run([nustream, "replay", "stream.toml", "--quiet", "--set", "state.directory=\"state\"", *options], cwd=folder,
                   check=True)


def run_privately(nustream, folder, name):
    subprocess.run([nustream, "key", "new", "golden.key"], cwd=folder, check=True)
    settings = ["--set", "state.key_file=\"golden.key\""]
    if name == "account":
        subprocess.run([nustream, "account", "new", "people", "--rho", "2"], cwd=folder, check=True)
        settings += ["--set", "privacy.account=\"people\""]
    replay(nustream, folder, "--to", str(RESUMED), *settings)
    shutil.copytree(folder / "state", folder / "before")
    replay(nustream, folder, "--to", str(STOPPED), "--resume", *settings)


def main():
    nustream, version = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    version.mkdir(parents=True)
    (version / "rows.csv").write_text("\n".join(rows()) + "\n")
    for name, of in SETTINGS.items():
        folder = version / name
        folder.mkdir()
        (folder / "stream.toml").write_text(COMMON.format(**{"stream": "", "privacy": "", "every": 100, **of}))
        if name in PRIVATE:
            run_privately(nustream, folder, name)
        else:
            replay(nustream, folder, "--to", str(STOPPED), "--insecure-seed", SEED)
        for lock in folder.glob("*/*lock"):
            lock.unlink()


if __name__ == "__main__":
    main()
