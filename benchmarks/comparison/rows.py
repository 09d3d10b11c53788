"""The rows that every contender reads: the same numbers in each format. Of a stream 10 standard normal features and a
target; in memory as many features as asked for, and a target that has nothing to do with them."""

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


def steps_of(values, dimension):
    """Steps of one timing: the largest power of two of them with at most so many coordinates, whole blocks of noise."""
    return 1 << (values // dimension).bit_length() - 1


def write_doubles(folder, dimension, count):
    """A file of x and y, row after row, as native doubles."""
    draw = random.Random(dimension).gauss
    path = Path(folder, f"rows-{dimension}.doubles")
    with open(path, "wb") as out:
        for _ in range(count):
            array.array("d", [draw(0, 1) for _ in range(dimension + 1)]).tofile(out)
    return path


def read_doubles(path, dimension):
    """x and y for numpy."""
    import numpy
    table = numpy.fromfile(path).reshape(-1, dimension + 1)
    return numpy.ascontiguousarray(table[:, :-1]), numpy.ascontiguousarray(table[:, -1])


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
