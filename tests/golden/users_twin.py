#!/usr/bin/env python3
"""Writes tests/golden/data/users.bin, a store of users after docs/formats/users.md, by another hand: hashlib, and SipHash
and XChaCha20-Poly1305 by the letter of their papers, instead of libsodium. Prints the digest of its table.

Usage: users_twin.py FILE"""

import hashlib
import struct
import sys

MASTER = bytes(range(32))
MASK = 2**64 - 1


def derived(label, size):
    return hashlib.blake2b(b"nustream users v1 " + label, key=MASTER, digest_size=size).digest()


def rotated(value, by, bits):
    return (value << by | value >> (bits - by)) & (2**bits - 1)


def sip_hash(key, message):
    """SipHash-2-4 with 128 bits of output (Aumasson and Bernstein 2012, and their reference code)."""
    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D ^ 0xEE, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def mix(rounds):
        for _ in range(rounds):
            v[0] = (v[0] + v[1]) & MASK
            v[1] = rotated(v[1], 13, 64) ^ v[0]
            v[0] = rotated(v[0], 32, 64)
            v[2] = (v[2] + v[3]) & MASK
            v[3] = rotated(v[3], 16, 64) ^ v[2]
            v[0] = (v[0] + v[3]) & MASK
            v[3] = rotated(v[3], 21, 64) ^ v[0]
            v[2] = (v[2] + v[1]) & MASK
            v[1] = rotated(v[1], 17, 64) ^ v[2]
            v[2] = rotated(v[2], 32, 64)

    padded = message + bytes(7 - len(message) % 8) + bytes([len(message) & 0xFF])
    for word in struct.unpack(f"<{len(padded) // 8}Q", padded):
        v[3] ^= word
        mix(2)
        v[0] ^= word
    v[2] ^= 0xEE
    mix(4)
    first = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xDD
    mix(4)
    return struct.pack("<QQ", first, v[0] ^ v[1] ^ v[2] ^ v[3])


def rounds_of(state):
    x = list(state)

    def quarter(a, b, c, d):
        for one, two, by in ((a, b, 16), (c, d, 12), (a, b, 8), (c, d, 7)):
            x[one] = (x[one] + x[two]) & 0xFFFFFFFF
            other = d if one == a else b
            x[other] = rotated(x[other] ^ x[one], by, 32)

    for _ in range(10):
        for i in range(4):
            quarter(i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return x


CONSTANTS = struct.unpack("<4I", b"expand 32-byte k")


def block(key, counter, nonce):
    state = CONSTANTS + struct.unpack("<8I", key) + (counter,) + struct.unpack("<3I", nonce)
    return struct.pack("<16I", *((a + b) & 0xFFFFFFFF for a, b in zip(state, rounds_of(state))))


def poly1305(key, message):
    r = int.from_bytes(key[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    sum_ = 0
    for at in range(0, len(message), 16):
        sum_ = (sum_ + int.from_bytes(message[at:at + 16] + b"\1", "little")) * r % (2**130 - 5)
    return ((sum_ + int.from_bytes(key[16:], "little")) % 2**128).to_bytes(16, "little")


def sealed(key, nonce, plain, associated):
    """XChaCha20-Poly1305 (RFC 8439; draft-irtf-cfrg-xchacha-03)."""
    x = rounds_of(CONSTANTS + struct.unpack("<8I", key) + struct.unpack("<4I", nonce[:16]))
    key, nonce = struct.pack("<8I", *x[:4], *x[12:]), bytes(4) + nonce[16:]
    stream = b"".join(block(key, 1 + i, nonce) for i in range((len(plain) + 63) // 64))
    hidden = bytes(a ^ b for a, b in zip(plain, stream))

    def padded(part):
        return part + bytes(-len(part) % 16)

    tag = poly1305(block(key, 0, nonce)[:32],
                   padded(associated) + padded(hidden) + struct.pack("<QQ", len(associated), len(hidden)))
    return hidden + tag


CONTEXT = derived(b"fingerprint", 16) + struct.pack("<I", 3) + struct.pack("<I", 4) + b"mine"


def entry(identifier, number, following, count, mass):
    user = sip_hash(derived(b"identifiers", 16), identifier)
    number ^= int.from_bytes(sip_hash(derived(b"numbers", 16), user)[:4], "little")
    return user + struct.pack("<IQII", number, following, count, mass)


def record(number, commit, kind, part, plain):
    heading = struct.pack("<IQQBB", 58 + len(plain), number, commit, kind, part)
    nonce = bytes([number]) * 24
    return heading + nonce + sealed(derived(b"log", 32), nonce, plain, CONTEXT + heading)


def main():
    alice, bob = entry(b"alice", 0x12345678, 42, 3, 2**30), entry(b"bob", 7, 50, 1, 2**29)
    # An epoch in which W doubles: last steps are forgotten, masses are half as many parts.
    alice_then, bob_then = (one[:20] + bytes(8) + one[28:32] + struct.pack("<I", struct.unpack("<I", one[32:])[0] // 2 + 1)
                            for one in (alice, bob))
    again = entry(b"alice", 0x12345678, 9, 4, 2**29 + 100)
    store = (b"NUUSERS\0" + struct.pack("<IQ", 1, 1) + CONTEXT + record(1, 1, 1, 0, alice + bob) +
             record(2, 2, 4, 0, struct.pack("<dd", 2, 4)) +
             record(3, 2, 3, bob[15], bob_then) + record(4, 2, 1, 0, again))
    digest = sum(int.from_bytes(sip_hash(derived(b"entries", 16), one), "little") for one in (again, bob_then))
    with open(sys.argv[1], "wb") as file:
        file.write(store)
    print(f"{digest % 2**128:032x}")


if __name__ == "__main__":
    main()
