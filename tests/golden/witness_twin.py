#!/usr/bin/env python3
"""Writes tests/golden/data/witness.bin after docs/formats/witness.md, by another hand: hashlib instead of libsodium.

Usage: witness_twin.py FILE"""

import hashlib
import struct
import sys

MASTER = bytes(range(1, 33))


def derived(label, size=32):
    return hashlib.blake2b(label, key=MASTER, digest_size=size).digest()


FINGERPRINT = derived(b"nustream v1 fingerprint", 16)


def text(value):
    return struct.pack("<I", len(value)) + value


def line(epoch, steps):
    """As docs/formats/ledger.md, behind an empty ledger."""
    begin = (f'{{"format":2,"stream":"mine","lane":0,"epoch":{epoch},"from":0,"to":{steps},"steps":{steps},"rho":0.125,'
             f'"rho_limit":0.25,"digest":"{"d" * 64}","adjacency":"zero-out","protects":"record","private":true,'
             f'"disjoint":"disjoint","key":"{FINGERPRINT.hex()}","previous":"{"0" * 64}"')
    mac = hashlib.blake2b(begin.encode(), key=derived(b"nustream v1 ledger"), digest_size=32).hexdigest()
    return f'{begin},"mac":"{mac}"}}\n'.encode()


body = (b"NUWITNS\0" + struct.pack("<I", 1) + FINGERPRINT + bytes(range(16)) + text(b"mine") + struct.pack("<I", 3) +
        text(b"/data/mine") + struct.pack("<IQ", 2, 1000) + b"\xab" * 32 + text(line(0, 500) + line(2, 1000)))
mac = hashlib.blake2b(body, key=derived(b"nustream v1 witness"), digest_size=32).digest()
with open(sys.argv[1], "wb") as out:
    out.write(body + mac)
