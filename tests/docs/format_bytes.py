"""Decodes bytes of the durable formats by the letter of docs/formats, field by field, and shows them as the pages do: each
field's bytes, and what they say."""

import hashlib
import struct
import sys

from pages import root

sys.path.insert(0, str(root / "tests/golden"))
from users_twin import sip_hash  # noqa: E402
from xchacha import unseal  # noqa: E402

MASTER = bytes(range(1, 33))  # the key file of all examples
SHOWN = 24  # bytes of a field that a line shows whole; of a longer field it shows the first 16


def derived(label, size=32, master=MASTER):
    return hashlib.blake2b(label.encode(), key=master, digest_size=size).digest()


def hash_of(data):
    return hashlib.blake2b(data, digest_size=32).digest()


class Bytes:
    """A run of bytes that is read from its front, and the lines that a page shows of it."""

    def __init__(self, data):
        self.data, self.at, self.lines = data, 0, []

    def take(self, size):
        if self.at + size > len(self.data):
            raise ValueError(f"{len(self.data)} bytes end within a field of {size} at {self.at}")
        self.at += size
        return self.data[self.at - size:self.at]

    def show(self, raw, what):
        text = raw.hex() if len(raw) <= SHOWN else f"{raw[:16].hex()}… {len(raw)} bytes"
        self.lines.append(f"{text}  {what}")

    def number(self, form, what, meaning=None):
        raw = self.take(struct.calcsize("<" + form))
        value = struct.unpack("<" + form, raw)[0]
        self.show(raw, f"{what}: {meaning(value) if meaning else value}")
        return value

    def raw(self, size, what):
        raw = self.take(size)
        self.show(raw, what)
        return raw

    def same(self, expected, what):
        raw = self.raw(len(expected), what)
        if raw != expected:
            raise ValueError(f"{what} is {raw.hex()}, and not {expected.hex()}")

    def text(self, what, quoted=True):
        size = self.take(4)
        value = self.take(struct.unpack("<I", size)[0])
        shown = f'"{value.decode()}"' if quoted and value else "empty" if not value else f"{len(value)} bytes"
        self.show(size + value, f"{what}: {shown}")
        return value

    def end(self):
        if self.at != len(self.data):
            raise ValueError(f"{len(self.data) - self.at} bytes follow")
        return self.lines


def keys_of(master):
    sizes = {"sealing": 32, "ledger": 32, "witness": 32, "signing": 32, "fingerprint": 16}
    return [f"{derived('nustream v1 ' + name, size, master).hex()}  {name}" for name, size in sizes.items()]


def seal_header(data):
    found = Bytes(data)
    found.same(b"NUSTATE\0", "magic")
    found.number("I", "format")
    found.number("I", "private")
    found.number("I", "lane")
    found.number("I", "epoch")
    found.number("Q", "step")
    found.raw(32, "settings digest")
    found.same(derived("nustream v1 fingerprint", 16), "key fingerprint")
    nonce = found.raw(24, "nonce")
    found.text("stream")
    return found, nonce


def state(data):
    """The lines of header and record, and the fields that others are compared with."""
    found, nonce = seal_header(data)
    header, sealed = data[:found.at], data[found.at:]
    found.show(sealed, "sealed record with its tag")
    record = Bytes(unseal(derived("nustream v1 sealing"), nonce, sealed, header))
    fields = {}
    record_format = record.number("I", "record format")
    fields["position"] = record.number("Q", "position")
    record.number("Q", "start")
    record.number("Q", "stop")
    record.number("B", "is there a stop")
    record.number("Q", "rejected")
    fields["lane"] = record.text("lane (lane.md)", quoted=False)
    stages = record.number("I", "stages")
    record.number("B", "in blocks")
    for _ in range(stages):
        for _ in range(record.number("I", "segments of the stage")):
            record.number("Q", "first step of the segment")
            record.raw(32, "chain key")
        for _ in range(record.number("Q", "numbers in the generator's memory")):
            record.number("d", "memory")
    fields["outbox"] = record.text("outbox (releases.md)", quoted=False)
    fields["ledger line"] = record.text("ledger line (ledger.md)", quoted=False)
    fields["bookmark"] = record.text("bookmark", quoted=False)
    fields["ledger head"] = record.raw(32, "ledger head")
    record.number("Q", "released")
    record.text("ledger epochs", quoted=False)
    record.number("I", "partitions")
    for _ in range(record.number("I", "seen")):
        record.number("Q", "position of a mark")
        record.raw(32, "its MAC")
    record.text("stop asked")
    record.raw(32, "seen key")
    fields["account"] = record.raw(16, "account")
    fields["settings"] = record.text("settings", quoted=False)
    if record.number("B", "users"):
        fields["users key"] = record.raw(32, "users' key")
        fields["users mark"] = record.text("mark of their store (users.md)", quoted=False)
        record.text("their column")
        for what in ("latest time", "window of the last step") if record_format > 10 else ():
            record.number("B", f"is there a {what}")
            record.number("q", what)
    record.text("ranges", quoted=False)
    fields["release head"] = record.raw(32, "release head")
    return found.lines + ["", *record.end()], fields


def lane(data):
    found = Bytes(data)
    found.same(b"nu-lane\1", "magic, format 1")
    d = found.number("Q", "d")
    found.number("Q", "steps")
    found.number("Q", "position")
    weight = found.number("d", "W")
    for j in range(d):
        found.number("d", f"θ_{j}")
    for j in range(d if weight else 0):
        found.number("d", f"average_{j}")
    return found.end()


def sums(data):
    found = Bytes(data)
    found.same(b"nu-sums\1", "magic, format 1")
    d, e, kind = (found.number("Q", what) for what in ("d", "e", "what is summed of the residuals"))
    found.number("Q", "steps")
    found.number("Q", "position")
    r = e + 1
    spread = {0: 0, 1: r * (r + 1) // 2, 2: d * (d + 1) // 2}[kind]
    for _ in range(found.number("Q", "stages")):
        found.number("Q", "first step of the stage")
        for what, count in (("radius", 3), ("centre", d * r), ("Σ xxᵀ", d * (d + 1) // 2), ("Σ x·residual", d * r),
                            ("residuals", spread)):
            for _ in range(count):
                found.number("d", what)
    return found.end()


def bookmark(data):
    found = Bytes(data)
    lengths = {}
    for name in ("releases.jsonl", "ledger"):
        lengths[name] = (found.number("Q", f"bytes of {name} before the outbox"), found.raw(32, "hash of these bytes"))
    return found.end(), lengths


def witness(data):
    found = Bytes(data)
    found.same(b"NUWITNS\0", "magic")
    found.number("I", "format")
    found.same(derived("nustream v1 fingerprint", 16), "key fingerprint")
    fields = {"account": found.raw(16, "account")}
    found.text("stream")
    found.number("I", "lane")
    found.text("folder")
    found.number("I", "epoch")
    found.number("Q", "step")
    fields["ledger head"] = found.raw(32, "ledger head")
    found.text("epochs", quoted=False)
    found.same(hashlib.blake2b(data[:found.at], key=derived("nustream v1 witness"), digest_size=32).digest(), "MAC")
    return found.end(), fields


def users_file(data, key):
    """A file of the store of users, its records opened under the users' key, and their entries."""
    names = {what: derived("nustream users v1 " + what, size, key)
             for what, size in (("identifiers", 16), ("numbers", 16), ("log", 32), ("fingerprint", 16))}
    found = Bytes(data)
    found.same(b"NUUSERS\0", "magic")
    found.number("I", "format")
    found.number("Q", "segment")
    context = found.at
    found.same(names["fingerprint"], "fingerprint of the users' key")
    found.number("I", "lane")
    found.text("stream")
    context = data[context:found.at]
    while found.at < len(data):
        begin = found.at
        length = found.number("I", "length of the record")
        for what in ("number", "commit"):
            found.number("Q", what)
        kind = found.number("B", "kind")
        found.number("B", "part")
        heading = data[begin:found.at]
        nonce = found.raw(24, "nonce")
        sealed = found.raw(length - 42, "sealed entries with their tag")
        entries = Bytes(unseal(names["log"], nonce, sealed, context + heading))
        while kind != 4 and entries.at < len(entries.data):
            user = entries.raw(16, "user")
            mask = int.from_bytes(sip_hash(names["numbers"], user)[:4], "little")
            entries.number("I", "number, hidden", lambda value, mask=mask: f"{value}, which is {value ^ mask}")
            entries.number("Q", "next")
            entries.number("I", "count")
            entries.number("I", "mass")
        found.lines += ["", *entries.end()]
    return found.end(), lambda identifier: sip_hash(names["identifiers"], identifier)


def local_state(data):
    found = Bytes(data)
    found.same(b"NULOCAL\0", "magic")
    found.number("I", "format")
    found.text("stream")
    found.text("mechanism's digest", quoted=False)
    sums_of_reports = found.text("sums", quoted=False)
    counted = found.number("Q", "bytes of ids that are counted"), found.raw(32, "their hash")
    for _ in range(found.number("I", "topic positions")):
        found.text("topic")
        found.number("I", "partition")
        found.number("Q", "next record")
    found.same(hash_of(data[:found.at]), "hash of everything before")
    inside = Bytes(sums_of_reports)
    inside.same(b"nu-sums\1", "magic, format 1")
    p = inside.number("Q", "p")
    inside.number("Q", "n")
    for j in range(p * (p + 1) // 2 + p):
        raw = inside.take(16)
        inside.show(raw, f"{'xx' if j < p * (p + 1) // 2 else 'xy'}: {int.from_bytes(raw, 'little', signed=True)}")
    return found.end() + ["", *inside.end()], counted


def leb128(found, what, meaning=None):
    raw = b""
    while not raw or raw[-1] & 0x80:
        raw += found.take(1)
    value = sum((byte & 0x7F) << 7 * i for i, byte in enumerate(raw))
    found.show(raw, f"{what}: {meaning(value) if meaning else value}")
    return value


def unzigzag(value):
    return value >> 1 ^ -(value & 1)


def segment(data):
    """Lines of a segment with one block, whose zstd frame stores its content as it is: one raw block of RFC 8878."""
    found = Bytes(data)
    check = lambda: found.same(hash_of(data[:found.at])[:16], "check")  # noqa: E731
    found.same(b"NUSEGMT\0", "magic")
    found.number("I", "format")
    found.number("I", "length of the fields up to the check")
    found.number("I", "partition")
    found.number("Q", "start")
    found.number("B", "bounded")
    found.number("Q", "stop")
    found.text("topic")
    found.text("cluster")
    check()
    found.same(struct.pack("<I", 1), "kind: a block")
    records = found.number("I", "records")
    offset = found.number("Q", "first offset")
    found.number("Q", "last offset")
    content = found.number("I", "content")
    found.number("I", "stored")
    check()
    found.same(b"\x28\xb5\x2f\xfd\x20" + bytes([content]) + (1 | content << 3).to_bytes(3, "little"),
               "zstd frame: one block, stored as it is")
    time = 0
    for n in range(records):
        leb128(found, "length of the record")
        offset += leb128(found, "gap") + (n > 0)
        found.number("B", "time kind")
        time += unzigzag(leb128(found, "time", lambda value, before=time: f"{before + unzigzag(value)} ms"))
        for what in ("key", "value"):
            size = leb128(found, what, lambda value: "nothing" if value == 0 else f"{value - 1} bytes")
            if size:
                raw = found.take(size - 1)
                found.show(raw, f"{raw.decode()}, at offset {offset}")
        leb128(found, "headers")
    check()
    found.same(struct.pack("<I", 2), "kind: the end marker")
    for form, what in (("I", "blocks"), ("Q", "records"), ("Q", "next offset"), ("Q", "content")):
        found.number(form, what)
    check()
    return found.end()
