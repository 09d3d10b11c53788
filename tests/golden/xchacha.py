"""XChaCha20-Poly1305-IETF in plain Python, after RFC 8439 and draft-irtf-cfrg-xchacha: for twins of what libsodium seals."""

import struct


def _rounds(state):
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


def _words(key, last):
    return list(struct.unpack("<16I", b"expand 32-byte k" + key + last))


def _block(key, counter, nonce):
    begin = _words(key, struct.pack("<I", counter) + nonce)
    return struct.pack("<16I", *((a + b) & 0xFFFFFFFF for a, b in zip(_rounds(begin[:]), begin)))


def _poly1305(key, message):
    r = int.from_bytes(key[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    total = 0
    for at in range(0, len(message), 16):
        total = (total + int.from_bytes(message[at:at + 16] + b"\1", "little")) * r % (2**130 - 5)
    return ((total + int.from_bytes(key[16:], "little")) % 2**128).to_bytes(16, "little")


def _inner(key, nonce):
    mixed = _rounds(_words(key, nonce[:16]))
    return struct.pack("<8I", *mixed[:4], *mixed[12:]), bytes(4) + nonce[16:]


def _mixed(key, nonce, text):
    stream = b"".join(_block(key, 1 + i, nonce) for i in range(len(text) // 64 + 1))
    return bytes(a ^ b for a, b in zip(text, stream))


def _tag(key, nonce, hidden, header):
    pad = lambda text: text + bytes(-len(text) % 16)  # noqa: E731
    return _poly1305(_block(key, 0, nonce)[:32],
                     pad(header) + pad(hidden) + struct.pack("<QQ", len(header), len(hidden)))


def seal(key, nonce, plain, header):
    key, nonce = _inner(key, nonce)
    hidden = _mixed(key, nonce, plain)
    return hidden + _tag(key, nonce, hidden, header)


def unseal(key, nonce, sealed, header):
    """The plain bytes; ValueError where the tag does not fit."""
    key, nonce = _inner(key, nonce)
    hidden, tag = sealed[:-16], sealed[-16:]
    if _tag(key, nonce, hidden, header) != tag:
        raise ValueError("the seal does not fit")
    return _mixed(key, nonce, hidden)
