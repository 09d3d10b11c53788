#!/usr/bin/env python3
"""No include points up or sideways, and arrows.py would find one that did, wherever it was."""
import pathlib
import shutil
import sys
import tempfile

import arrows

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Each has a file, an include that the file must not have, and words of the message about it.
WRONG = [
    ("streaming/engine/stepper.h", "replay/replay.h", "'engine' includes 'replay'"),
    ("streaming/estimate/estimate.h", "replay/replay.h", "'estimate' includes 'replay'"),
    ("streaming/console/signals.h", "folder/session.h", "'console' includes 'folder'"),
    ("streaming/config/config.h", "decode/reader.h", "'config' includes 'decode'"),
    ("streaming/kafka/client.h", "engine/stepper.h", "'kafka' includes 'engine'"),
    ("streaming/attach/attach.h", "cli/commands.h", "'attach' includes 'cli'"),
    ("streaming/error.h", "secrets/seal.h", "'' includes 'secrets'"),
    ("src/lane/lane.cpp", "error.h", "the core includes the service"),
    ("include/nustream/noise/grid.h", "nustream/privacy/zcdp.h", "'noise' includes 'privacy'"),
    ("src/descent/loop.cpp", "nustream/inference/adassp.h", "'descent' includes 'inference'"),
    ("streaming/newroom/thing.h", "error.h", "the room 'newroom' has no row"),
]


def wrong_in_a_copy():
    """What arrows.py finds in a copy of the sources that has every include of WRONG."""
    with tempfile.TemporaryDirectory() as folder:
        for part in ("include", "src", "streaming"):
            shutil.copytree(ROOT / part, pathlib.Path(folder) / part)
        for file, include, _ in WRONG:
            changed = pathlib.Path(folder) / file
            changed.parent.mkdir(exist_ok=True)
            with changed.open("a") as out:
                out.write(f'#include "{include}"\n')
        return list(arrows.wrong_arrows(folder))


def main():
    failures = list(arrows.wrong_arrows(ROOT))
    found = wrong_in_a_copy()
    for file, include, word in WRONG:
        if not any(line.startswith(file + ":") and word in line for line in found):
            failures.append(f"{file} with {include}: not found to be wrong")
    if not failures and len(found) != len(WRONG):
        failures.append(f"of {len(WRONG)} wrong includes {len(found)} are found: {found}")
    for line in failures:
        print(line)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
