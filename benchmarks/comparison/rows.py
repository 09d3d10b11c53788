"""Makes the rows that every contender reads, the same numbers in each format. Rows of a stream have 10 standard normal
features and a target. Rows in memory have as many features as asked for, and a target that is independent of them."""

import array
import gzip
import random
import shutil
import subprocess
from pathlib import Path

FEATURES = 10
STEP_SIZE = 0.001
CLIP_NORM = 3.0


def write(folder, count):
    """Writes rows.csv and rows.vw (Vowpal Wabbit's text), both also compressed, and sample.csv, which holds the first
    2% for the slowest contenders."""
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


def steps_of(values, dimension):
    """The number of steps of one timing: the largest power of two with at most `values` coordinates in all, which makes
    whole blocks of noise."""
    return 1 << (values // dimension).bit_length() - 1


def write_doubles(folder, dimension, count):
    """Writes a file of x and y, row after row, as native doubles."""
    draw = random.Random(dimension).gauss
    path = Path(folder, f"rows-{dimension}.doubles")
    with open(path, "wb") as out:
        for _ in range(count):
            array.array("d", [draw(0, 1) for _ in range(dimension + 1)]).tofile(out)
    return path


def read_doubles(path, dimension):
    """Reads x and y of such a file into numpy."""
    import numpy
    table = numpy.fromfile(path).reshape(-1, dimension + 1)
    return numpy.ascontiguousarray(table[:, :-1]), numpy.ascontiguousarray(table[:, -1])


def segment(product, folder):
    """Writes the rows as `nustream record` keeps those of a topic."""
    subprocess.run([str(product.benchmarks / "make_segment"), str(folder / "rows.csv"),
                    str(folder / "rows.segment")], check=True)


def config(folder, source, header=True):
    """Writes the settings of a private replay of `source`."""
    names = [f"x{j}" for j in range(FEATURES)]
    columns = "" if header else "columns = [" + ", ".join(f'"{name}"' for name in [*names, "y"]) + "]\n"
    text = (f'[stream]\nname = "rows"\ninput = "{source}"\n{columns}[target]\ncolumn = "y"\n'
            + "".join(f'[[features]]\ncolumn = "{name}"\n' for name in names)
            + f"[model]\nintercept = false\n[descent]\nstep_size = {STEP_SIZE}\nclip_norm = {CLIP_NORM}\n"
            "[privacy]\nrho = 0.5\ndelta = 1e-6\n[noise]\nnu = 0.001\n[release]\nevery = 1000\n")
    path = Path(folder, source + ".toml")
    path.write_text(text)
    return path
