#!/usr/bin/env python3
"""Writes tests/golden/data/state_format5.bin after docs/formats/state.md, by another hand: a sealed state whose record
has format 5, as versions wrote it whose keys did not heal. The seal is xchacha.py's.

Usage: state_twin.py FILE"""

import hashlib
import struct
import sys

from xchacha import seal

MASTER = bytes(range(1, 33))
NONCE = bytes(range(24))


def derived(label, size=32):
    return hashlib.blake2b(label, key=MASTER, digest_size=size).digest()


def text(value):
    return struct.pack("<I", len(value)) + value


def checkpoint(block, key, memory):
    return struct.pack("<Q", block) + key.ljust(32, b"\0") + struct.pack(f"<Q{len(memory)}d", len(memory), *memory)


def hashed(value):
    return hashlib.blake2b(value, digest_size=32).digest()


record = (struct.pack("<IQQQBQ", 5, 12345678901, 17, 99999999999, 1, 3) + text(b"lane\0bytes") + struct.pack("<I", 2) +
          checkpoint(5, b"\1\2\xff", [0.1, -0.0, 1e-310]) + checkpoint(6, b"\7", []) +
          text(b'{"step":1}\n{"step":2}\n') + text(b'{"rho":1}\n') +
          text(struct.pack("<Q", 3) + hashed(b"abc") + struct.pack("<Q", 0) + hashed(b"")) + bytes(31) + b"\x09" +
          struct.pack("<Q", 40) + text(b'{"epoch":0}\n') + struct.pack("<II", 4, 2) +
          struct.pack("<Q", 7) + hashed(b"seven") + struct.pack("<Q", 9) + hashed(b"nine") + text(b"end") +
          hashed(b"key") + b"\1\2\3".ljust(16, b"\0"))
header = (b"NUSTATE\0" + struct.pack("<IIIIQ", 1, 1, 1, 2, 3) + bytes.fromhex("aa" * 32) +
          derived(b"nustream v1 fingerprint", 16) + NONCE + text(b"retail"))
with open(sys.argv[1], "wb") as out:
    out.write(header + seal(derived(b"nustream v1 sealing"), NONCE, record, header))
