"""The rows that every contender reads: 10 standard normal features and a target, the same numbers in each format."""

import gzip
import random
import shutil
import subprocess
from pathlib import Path

FEATURES = 10
STEP_SIZE = 0.001
CLIP_NORM = 3.0


def write(folder, count):
    """rows.csv, rows.vw (Vowpal Wabbit's text), the same compressed, sample.csv: the first 2% for the slowest."""
    draw = random.Random(1).gauss
    names = [f"x{j}" for j in range(FEATURES)]
    header = ",".join([*names, "y"]) + "\n"
    sample = max(200, count // 50)
    with open(folder / "rows.csv", "w") as csv, open(folder / "rows.vw", "w") as vw, \
            open(folder / "sample.csv", "w") as part:
        csv.write(header)
        part.write(header)
        for i in range(count):
            x = [draw(0, 1) for _ in range(FEATURES)]
            y = sum((0.2 if j % 2 == 0 else -0.1) * x[j] for j in range(FEATURES)) + 0.3 * draw(0, 1)
            fields = ["%.5f" % value for value in x]
            line = ",".join(fields) + ",%.5f\n" % y
            csv.write(line)
            if i < sample:
                part.write(line)
            vw.write("%.5f | " % y + " ".join(map(":".join, zip(names, fields))) + "\n")
    for name in ("rows.csv", "rows.vw"):
        with open(folder / name, "rb") as plain, gzip.open(folder / (name + ".gz"), "wb", 6) as packed:
            shutil.copyfileobj(plain, packed)
    return sample


def segment(product, folder):
    """The rows as `nustream record` keeps a topic's."""
    subprocess.run([str(product.benchmarks / "make_segment"), str(folder / "rows.csv"),
                    str(folder / "rows.segment")], check=True)


def config(folder, source, header=True):
    """Settings of a private replay of `source`."""
    names = [f"x{j}" for j in range(FEATURES)]
    columns = "" if header else "columns = [" + ", ".join(f'"{name}"' for name in [*names, "y"]) + "]\n"
    text = (f'[stream]\nname = "rows"\ninput = "{source}"\n{columns}[target]\ncolumn = "y"\n'
            + "".join(f'[[features]]\ncolumn = "{name}"\n' for name in names)
            + f"[model]\nintercept = false\n[descent]\nstep_size = {STEP_SIZE}\nclip_norm = {CLIP_NORM}\n"
            "[privacy]\nrho = 0.5\ndelta = 1e-6\n[noise]\nnu = 0.001\n[release]\nevery = 1000\n")
    path = Path(folder, source + ".toml")
    path.write_text(text)
    return path
