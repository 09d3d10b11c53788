"""Checks the worked examples of docs/formats. The bytes in docs/formats/example are decoded by the letter of each page, and
the page has to show what comes out, character by character. Then the program reads the same bytes.

NUSTREAM_WRITE_DOCS=1 writes the examples into the pages."""

import hashlib
import json
import os
import re
import shutil
import struct
import tempfile
from pathlib import Path

import format_bytes as formats
from pages import blocks, count, mistake, name_of, nustream, root

FORMATS = root / "docs/formats"
FOLDER = FORMATS / "example"


def read(name):
    return (FOLDER / name).read_bytes()


def require(fits, what):
    if not fits:
        raise ValueError(what)


def lines_of(name):
    return [line + b"\n" for line in read(name).split(b"\n")[:-1]]


def fields_of(page):
    """Names that stand in the first cells of a page's tables."""
    cells = re.findall(r"^\| (`[^|]*) \|", (FORMATS / page).read_text(), re.M)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


def known(page, line):
    """A JSON line as text; the page has to have each of its fields in a table."""
    unknown = json.loads(line).keys() - fields_of(page)
    require(not unknown, f"the page does not know {', '.join(sorted(unknown))}")
    return line.decode().rstrip("\n")


def key():
    require(read("example.key") == formats.MASTER, "the key file is not the bytes 01 to 20")
    return formats.keys_of(read("example.key"))


def state():
    found, fields = formats.state(read("run/state"))
    digest = hashlib.sha256(fields["settings"]).hexdigest()
    require(json.loads(fields["outbox"])["digest"] == digest, "the settings are not what the digest is of")
    return found


def lane():
    return formats.lane(formats.state(read("run/state"))[1]["lane"])


def moments():
    return formats.sums(formats.state(read("sums/state"))[1]["lane"])


def check_ledger_lines(lines):
    """Checks that each line names the one before and has its MAC; returns the hash of the last one."""
    previous = "0" * 64
    for line in lines:
        entry = json.loads(line)
        require(entry["previous"] == previous, "a line does not name the one before")
        begin = line[:line.index(b',"mac"')]
        mac = hashlib.blake2b(begin, key=formats.derived("nustream v1 ledger"), digest_size=32).hexdigest()
        require(entry["mac"] == mac, "a MAC does not fit")
        previous = formats.hash_of(line).hex()
    return previous


def ledger():
    """A line of a run that closed, and one of a run that reserves."""
    head = check_ledger_lines(lines_of("run/ledger"))
    require(formats.state(read("run/state"))[1]["ledger head"].hex() == head, "the state has another head")
    reserving = lines_of("reserving.ledger")
    check_ledger_lines(reserving)
    entry = json.loads(reserving[0])
    require(entry["taken"] < entry["to"] < entry["steps"], "the line pays for no step ahead")
    return [known("ledger.md", lines_of("run/ledger")[-1]), known("ledger.md", reserving[0])]


def releases():
    previous = "0" * 64
    for line in lines_of("run/releases.jsonl"):
        require(json.loads(line)["previous"] == previous, "a release does not name the one before")
        previous = formats.hash_of(line).hex()
    require(formats.state(read("run/state"))[1]["release head"].hex() == previous, "the state has another head")
    return [known("releases.md", line)]


def releases_folder():
    """Behind the bookmark lie the outbox and the ledger line of the state, and nothing else."""
    fields = formats.state(read("run/state"))[1]
    found, lengths = formats.bookmark(fields["bookmark"])
    for name, owed in (("releases.jsonl", "outbox"), ("ledger", "ledger line")):
        data, (length, hashed) = read(f"run/{name}"), lengths[name]
        require(formats.hash_of(data[:length]) == hashed, f"{name} has another beginning")
        require(data[length:] == fields[owed], f"{name} has another end")
        found.append(f"{name}: {len(data)} bytes, of which {len(data) - length} are the state's {owed}")
    return found


def witness():
    found, fields = formats.witness(next(FOLDER.glob("*.witness")).read_bytes())
    sealed = formats.state(read("run/state"))[1]
    for what in ("account", "ledger head"):
        require(fields[what] == sealed[what], f"the state has another {what}")
    return found


def users():
    fields = formats.state(read("users/state"))[1]
    found, hash_of_user = formats.users_file(read("users/users-0.log"), fields["users key"])
    for name in ("ann", "bob"):
        require(any(line.startswith(hash_of_user(name.encode()).hex()) for line in found), f"{name} has no entry")
        found.append(f"{hash_of_user(name.encode()).hex()}  the hash of {name}")
    return found


def account():
    first, second = next(blocks(FORMATS / "account.md")).encode().splitlines(keepends=True)
    require(json.loads(second)["previous"] == formats.hash_of(first).hex(), "the second line does not name the first")
    return [known("account.md", first), known("account.md", second)]


def local():
    found, (length, hashed) = formats.local_state(read("local/state"))
    require(formats.hash_of(read("local/ids")[:length]) == hashed, "the ids are others")
    report = lines_of("local/report.jsonl")[0]
    kept = lines_of("local/reports")[1]
    name, durable, check, rest = kept.split(b" ", 3)
    require(rest == report, "the kept report is another")
    require(name.decode() == formats.hash_of(b"p" + struct.pack("<Q", 0)).hex(), "the record has another name")
    require(int(durable, 16) == len(lines_of("local/reports")[0]), "another part of the file was durable")
    require(check.decode() == formats.hash_of(b" ".join((name, durable, rest[:-1]))).hex()[:32], "the check does not fit")
    require(json.loads(report)["id"] == read("local/ids").hex(), "another report was counted")
    return [known("local.md", report), "", *found]


def combined():
    """The record holds means of the parts' estimates, weighted by their steps; the parts stand above it on the page."""
    text = next(blocks(FORMATS / "model.md", "text"))
    *parts, record = [json.loads(line) for line in text.splitlines()]
    weights = [part["step"] for part in record["parts"]]
    require(weights == [part["step"] for part in parts], "the parts are others")
    for field in ("estimate", "average"):
        for name, value in record[field].items():
            mean = sum(n * part[field][name] for n, part in zip(weights, parts)) / sum(weights)
            require(value == mean, f"{field} of {name} is {value}, and not {mean}")
    known("model.md", text.splitlines()[-1].encode())
    return text.splitlines()


def topics():
    """The key of a state's record and the header of its value, from the golden topics that a test goes on with."""
    for line in (root / "tests/golden/topics/0.1.0.txt").read_text().splitlines():
        topic, _, of_key, value = line.split(" ")
        if topic == "state":
            record_key = bytes.fromhex(of_key[1:])
            break
    shown = formats.Bytes(bytes.fromhex(value[1:]))
    shown.show(record_key, f'key: "{record_key.decode()}"')
    shown.same(b"NUSTATE\0", "value: magic (state.md)")
    for form, what in (("I", "format"), ("I", "private"), ("I", "lane"), ("I", "epoch"), ("Q", "step")):
        shown.number(form, what)
    shown.raw(32, "settings digest")
    shown.raw(16, "key fingerprint")
    shown.raw(24, "nonce")
    stream = shown.text("stream").decode()
    require(record_key.decode() == f"{stream}/0/state", "the key is not made of the stream's name")
    return shown.lines


def rows():
    """Each line of the input, its ordinal, and the row that becomes of it: the intercept, x; y."""
    header, *records = read("example.csv").decode().splitlines()
    require(header == "x,y", "another header")
    found = [f"{(header + chr(10)).encode().hex()}  {header}: the header, no record"]
    for ordinal, line in enumerate(records):
        try:
            x, y = (float(text) for text in line.split(","))
            row = f"1, {x:g}; {y:g}"
        except ValueError:
            row = "0, 0; 0, since it cannot be used"
        found.append(f"{(line + chr(10)).encode().hex()}  {line}: ordinal {ordinal}, row {row}")
    return found


EXAMPLES = {"key.md": key, "state.md": state, "lane.md": lane, "moments.md": moments, "ledger.md": ledger,
            "releases.md": releases, "releases-folder.md": releases_folder, "witness.md": witness, "users.md": users,
            "account.md": account, "segment.md": lambda: formats.segment(read("partition-0.segment")), "local.md": local,
            "model.md": combined, "kafka.md": topics, "input.md": rows}
OF_OTHERS = {"noise.md"}  # its vectors are computed by tests/golden/noise_gaussian_twin.py


def check_page(name, decode):
    page = FORMATS / name
    try:
        wanted = "\n".join(decode()) + "\n"
    except (ValueError, KeyError, StopIteration) as error:
        return mistake(name_of(page), f"its example is not as the page says: {error}")
    section = re.search(r"^## Example\n.*?^```(?:text)?\n(.*?)^```", page.read_text(), re.S | re.M)
    if section and os.environ.get("NUSTREAM_WRITE_DOCS"):
        page.write_text(page.read_text()[:section.start(1)] + wanted + page.read_text()[section.end(1):])
    elif not section or section[1] != wanted:
        mistake(name_of(page), f"the example that it shows is not what its bytes say:\n{wanted}")


def check_program():
    """The program reads the example as the pages say."""
    def run(what, arguments, *expected):
        result = nustream(arguments, folder)
        if result.returncode or not all(re.search(each, result.stdout) for each in expected):
            mistake("docs/formats/example", f"{what}: {result.returncode}: {result.stdout}{result.stderr}")
        return result.stdout

    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder) / "example"
        shutil.copytree(FOLDER, folder)
        for path in [folder, *folder.rglob("*")]:
            path.chmod(0o700 if path.is_dir() else 0o600)
        seen = run("inspect", ["inspect", "run", "--key-file", "example.key", "--json"], r'"steps":4')
        public = re.search(r'"public_key":"([0-9a-f]{64})"', seen)
        run("verify", ["verify", "run/releases.jsonl", "run/ledger", "--public-key", public[1] if public else "none"])
        run("check", ["check", "--data", "--json", "example.toml"], r'"records":4,"usable":3')
        run("check of the segment", ["check", "--data", "--json", "example.toml", "partition-0.segment", "--set",
                                     "stream.format=jsonl"], r'"records":2,"usable":2')


def check_format_examples():
    there = {page.name for page in FORMATS.glob("*.md")}
    for name in sorted(there ^ (EXAMPLES.keys() | OF_OTHERS)):
        mistake(f"docs/formats/{name}", "this page has no worked example, or the example no page")
    for name in sorted(there & EXAMPLES.keys()):
        count("examples of formats")
        check_page(name, EXAMPLES[name])
    check_program()
