#!/usr/bin/env python3
"""Writes tests/golden/data/state_format5.bin after docs/formats/state.md, by another hand: a sealed state whose record
has format 5, as versions wrote it whose keys did not heal. The seal is in plain Python, after RFC 8439 and
draft-irtf-cfrg-xchacha.

Usage: state_twin.py FILE"""

import hashlib
import struct
import sys

MASTER = bytes(range(1, 33))
NONCE = bytes(range(24))


def derived(label, size=32):
    return hashlib.blake2b(label, key=MASTER, digest_size=size).digest()


def rounds(state):
    def quarter(a, b, c, d):
        for x, y, z, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            state[x] = (state[x] + state[y]) & 0xFFFFFFFF
            state[z] ^= state[x]
            state[z] = (state[z] << bits | state[z] >> (32 - bits)) & 0xFFFFFFFF

    for _ in range(10):
        for i in range(4):
            quarter(i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return state


def words(key, last):
    return list(struct.unpack("<16I", b"expand 32-byte k" + key + last))


def chacha_block(key, counter, nonce):
    begin = words(key, struct.pack("<I", counter) + nonce)
    return struct.pack("<16I", *((a + b) & 0xFFFFFFFF for a, b in zip(rounds(begin[:]), begin)))


def poly1305(key, message):
    r = int.from_bytes(key[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    total = 0
    for at in range(0, len(message), 16):
        total = (total + int.from_bytes(message[at:at + 16] + b"\1", "little")) * r % (2**130 - 5)
    return ((total + int.from_bytes(key[16:], "little")) % 2**128).to_bytes(16, "little")


def seal(key, nonce, plain, header):
    mixed = rounds(words(key, nonce[:16]))
    key, nonce = struct.pack("<8I", *mixed[:4], *mixed[12:]), bytes(4) + nonce[16:]
    stream = b"".join(chacha_block(key, 1 + i, nonce) for i in range(len(plain) // 64 + 1))
    hidden = bytes(a ^ b for a, b in zip(plain, stream))
    pad = lambda text: text + bytes(-len(text) % 16)
    lengths = struct.pack("<QQ", len(header), len(hidden))
    return hidden + poly1305(chacha_block(key, 0, nonce)[:32], pad(header) + pad(hidden) + lengths)


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
