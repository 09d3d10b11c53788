#!/usr/bin/env python3
"""Runs docs/operations.md as it stands: each procedure over a folder in the situation that it is for.

Usage: procedures.py ROOT NUSTREAM. A line has to end with the exit code that stands behind its "#", or else with 0."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

root, program = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
page = root / "docs/operations.md"
BEGUN = ["mkdir backup safe", "nustream replay mine.toml --to 3000"]
BACKED_UP = [*BEGUN, "cp -a runs/mine backup/mine", "cp -pL runs/mine/key safe/mine.key"]
RAN_ON = [*BACKED_UP, "nustream replay mine.toml --resume --to 5000"]
PRIVATE = r"""sed -i 's/^\(step_size\|clip_norm\) = [^ ]*/\1 = "private"/' mine.toml"""
MEASURED = [PRIVATE, *BEGUN]
KEY_INSIDE = [*BEGUN, 'cp -p "$(readlink runs/mine/key)" key', "rm runs/mine/key", "mv key runs/mine/key"]

# The lines of the shell that run before each procedure, and those that have to succeed after it; several pairs where
# the procedure is for several situations.
SITUATIONS = {
    "Backup": (BEGUN, ["test -L backup/mine/key", "cmp safe/mine.key runs/mine/key"]),
    "Restore the newest copy": (BACKED_UP, []),
    "Restore an older copy": (RAN_ON, ["test $(rho) = 0.20"]),
    "Lost key": ([*BACKED_UP, 'rm "$(readlink runs/mine/key)"'], []),
    "Stolen key": (RAN_ON, ['test "$(readlink runs/mine/key)" = "$HOME/.config/nustream/mine-second.key"',
                            "test $(ls $HOME/.config/nustream/*.witness | wc -l) = 1",
                            "test $(ls $HOME/.config/nustream/*.key | wc -l) = 1", "test ! -e old-key",
                            "nustream key rotate runs/mine $HOME/.config/nustream/mine-second.key | grep 'keep that key'",
                            "nustream replay mine.toml --resume 2>&1 | grep -v 'no witness'"]),
    "Lost state": ([*RAN_ON, "rm runs/mine/state"], ["test $(rho) = 0.20"]),
    "Lost ledger": [([*RAN_ON, "rm runs/mine/ledger"], ["test $(rho) = 0.20"]),
                    ([*RAN_ON, "sed -i 2d runs/mine/ledger"], ["test $(rho) = 0.20"]),
                    ([*RAN_ON, "echo x >> runs/mine/ledger"], ["test $(rho) = 0.20"])],
    "Lost state or ledger, and private settings": [
        ([*MEASURED, "rm runs/mine/state"], ["test $(rho) = 0.20"]),
        ([*MEASURED, "truncate -s -1 runs/mine/state"], ["test $(rho) = 0.20"]),
        ([*MEASURED, "rm runs/mine/ledger", "nustream replay mine.toml --resume  # 65", "mv runs/mine/state lost-state"],
         ["test $(rho) = 0.20"]),
    ],
    "For third parties": (RAN_ON, [
        "nustream key new second && nustream key rotate runs/mine second",
        "nustream replay mine.toml --resume --to 6000",
        "nustream verify runs/mine/releases.jsonl runs/mine/ledger --public-key stream.pub | grep 'handed on 1 time'",
        # openssl finds the same signature good.
        "echo nustream release > text",
        "grep signature runs/mine/releases.jsonl | tail -1 | sed 's/,\"signature\".*//' | tr -d '\\n' >> text",
        "grep signature runs/mine/releases.jsonl | tail -1 | sed 's/.*\"signature\":\"//; s/\".*//' | bytes_of > signature",
        "(echo 302a300506032b6570032100; cat stream.pub) | bytes_of | openssl pkey -pubin -inform DER -out key.pem",
        "openssl pkeyutl -verify -pubin -inkey key.pem -rawin -in text -sigfile signature",
        "sed -i '2s/position/Position/' runs/mine/releases.jsonl",
        "nustream verify runs/mine/releases.jsonl runs/mine/ledger --public-key stream.pub  # 65",
    ]),
    "One budget for several streams": (BEGUN, ["test $(nustream account show people | grep -c reserved) = 0"]),
    "Moved folder": (RAN_ON, ["test -f there/keys/mine-*.witness"]),
    "Budget that seems to begin anew": (RAN_ON, ["test $(rho) = 0.20"]),
    "Moving the key out": ([*KEY_INSIDE, "nustream replay mine.toml --resume 2>&1 | grep 'lies inside the state folder'"],
                           ["! nustream replay mine.toml --resume 2>&1 | grep 'lies inside'"]),
}
# rho prints the spend of the worst record over all epochs; bytes_of turns hexadecimal digits into bytes.
HELPERS = r"""rho() {
  nustream inspect runs/mine --json | sed 's/.*"total_rho":\([^,]*\).*/\1/' | xargs printf '%.2f\n'
}
bytes_of() {
  python3 -c 'import sys; sys.stdout.buffer.write(bytes.fromhex(sys.stdin.read()))'
}"""


def procedures():
    for section in re.split(r"^## ", page.read_text(), flags=re.M)[1:]:
        heading, _, text = section.partition("\n")
        lines = [line.strip() for block in re.findall(r"^ *```\n(.*?)^ *```", text, re.S | re.M)
                 for line in block.splitlines() if line.strip()]
        if lines:
            yield heading, lines


def world(folder):
    """A home, a stream, and the program by its name."""
    for name in ("home", "bin"):
        os.mkdir(folder / name)
    os.symlink(program, folder / "bin/nustream")
    shutil.copy(root / "examples/retail/online_retail_events.csv.gz", folder)
    config = (root / "examples/retail/retail.toml").read_text()
    config = config.replace('name = "retail"', 'name = "mine"').replace("runs/retail", "runs/mine")
    # The page speaks of totals of .1 and .2 after a few steps. The example's budget is smaller than .2, and with its nu the
    # spend takes longer to come to .1.
    config = config.replace("rho = 0.05", "rho = 0.1").replace("budget = 0.1", "budget = 10") + "[noise]\nnu = 0.002\n"
    Path(folder, "mine.toml").write_text(config)
    environment = {name: value for name, value in os.environ.items() if name != "XDG_CONFIG_HOME"}
    return {**environment, "HOME": str(folder / "home"), "PATH": f"{folder}/bin:{environment['PATH']}"}


def run(line, folder, environment):
    script = f"set -o pipefail\n{HELPERS}\n{line.partition('  #')[0]}"
    return subprocess.run(["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True,
                          timeout=600)


def situations(heading):
    known = SITUATIONS[heading]
    return known if isinstance(known, list) else [known]


def play(heading, lines, situation):
    """What went wrong, or nothing."""
    before, after = situation
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = world(folder)
        for line in [*before, *lines, *after]:
            # The first part of the stream is enough, since the whole takes long.
            words = line
            if line.startswith("nustream replay") and "--to" not in line:
                words = line.replace("mine.toml", "mine.toml --to 8000", 1)
            wanted = int((re.findall(r"# (\d+)$", line) or ["0"])[0])
            result = run(words, folder, environment)
            if result.returncode != wanted:
                return f"{heading}: {line} ended with {result.returncode}: {(result.stderr + result.stdout).strip()}"
    return None


def main():
    found = dict(procedures())
    mistakes = [f"{heading}: there is no such procedure" for heading in SITUATIONS if heading not in found]
    mistakes += [f"{heading}: no situation is known for it" for heading in found if heading not in SITUATIONS]
    mistakes += filter(None, (play(heading, lines, situation) for heading, lines in found.items() if heading in SITUATIONS
                              for situation in situations(heading)))
    for mistake in mistakes:
        print(f"docs/operations.md: {mistake}", file=sys.stderr)
    print(f"{len(found)} procedures")
    sys.exit(1 if mistakes else 0)


main()
