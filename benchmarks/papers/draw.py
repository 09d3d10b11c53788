"""Runs the programs that draw the papers' figures, one after another.

The project does not ship the tables of Card, of Angrist and Evans and of forest cover. Small counts take stand-ins with
the same columns, which exercise the programs and mean nothing."""

import gzip
import random
import subprocess

PAPERS = ("cdp", "dpgd", "iv", "local")


def stand_ins(folder):
    """Writes tables from a fixed seed, under the names that reproduce_iv and reproduce_local read."""
    draw = random.Random(1)
    with open(folder / "card_complete_2191.csv", "w", encoding="ascii") as out:
        out.write("nearc2,nearc4,fatheduc,motheduc,educ,lwage\n")
        for _ in range(300):
            near, father = draw.randint(0, 1), draw.randint(4, 18)
            school = 8 + near + .4 * father + draw.gauss(0, 1)
            out.write(f"{near},{draw.randint(0, 1)},{father},{draw.randint(4, 18)},{school:.3f},"
                      f"{4 + .1 * school + draw.gauss(0, .4):.3f}\n")
    with gzip.open(folder / "fertility_254654.csv.gz", "wt", encoding="ascii") as out:
        out.write("samesex,morekids,weeks\n")
        for _ in range(2000):
            same = draw.randint(0, 1)
            more = int(draw.random() < .3 + .2 * same)
            out.write(f"{same},{more},{max(0, min(52, round(draw.gauss(25 - 6 * more, 12))))}\n")
    with open(folder / "covtype_15120.csv", "w", encoding="ascii") as out:
        out.write(",".join(f"c{j}" for j in range(54)) + ",Cover_Type\n")
        for _ in range(400):
            row = [draw.randint(0, 300) for _ in range(10)] + [int(draw.random() < .3) for _ in range(44)]
            out.write(",".join(map(str, [*row, draw.randint(1, 7)])) + "\n")
    return folder


def commands(build, out, quick, data):
    """The commands, one for each paper. `data` is None where the program's own folder is meant."""
    for paper in PAPERS:
        command = [str(build / f"benchmarks/reproduce_{paper}"), "--out", str(out)]
        if quick:
            command.append("--quick")
        elif paper == "local":
            command += ["--drawn-up-to", "1e7"]
        if paper in ("iv", "local") and data is not None:
            command += ["--data", str(data)]
        yield command


def draw(build, out, quick, data):
    for command in commands(build, out, quick, data):
        subprocess.run(command, check=True)
