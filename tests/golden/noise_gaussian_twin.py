"""Computes the noise of docs/formats/noise.md once more, from that page alone: Python's floats are IEEE doubles, and its
hmac and the openssl command give the keys and the keystream.

    noise_gaussian_twin.py docs/formats/noise.md [DIMENSION…]

computes the SHA-256 of the seed noise and of the recurrent noise and looks for them on the page; exit code 1 where one
is not there."""

import hashlib
import hmac
import math
import struct
import subprocess
import sys

BLOCKS = 64
CHUNK = 256
P = [1 - 2.0**-i for i in range(1, 7)]
A = [2.0**-i for i in range(3, 9)]


def hkdf_expand(key, info, size):
    output, digest = b"", b""
    while len(output) < size:
        counter = bytes([len(output) // 32 + 1])
        digest = hmac.new(key, digest + info + counter, hashlib.sha256).digest()
        output += digest
    return output[:size]


def first_chain_key(epoch_key, lane, epoch, stage):
    extracted = hmac.new(bytes(32), epoch_key, hashlib.sha256).digest()
    return hkdf_expand(extracted, b"nustream noise chain v1" + struct.pack("<III", lane, epoch, stage), 32)


def keystream(key, words):
    command = ["openssl", "enc", "-aes-256-ctr", "-K", key.hex(), "-iv", "00" * 16]
    stream = subprocess.run(command, input=bytes(8 * words), capture_output=True, check=True).stdout
    return struct.unpack(f"<{words}Q", stream)


def bits(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def double(pattern):
    return struct.unpack("<d", struct.pack("<Q", pattern))[0]


def polynomial(x, coefficients):
    result = coefficients[0]
    for coefficient in coefficients[1:]:
        result = result * x + coefficient
    return result


LOGARITHM = [1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01, 2.222219843214978396e-01,
             2.857142874366239149e-01, 3.999999999940941908e-01, 6.666666666666735130e-01]
SINE = [1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06,
        -1.98412698298579493134e-04, 8.33333333332248946124e-03, -1.66666666666666324348e-01]
COSINE = [-1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07,
          2.48015872894767294178e-05, -1.38888888888741095749e-03, 4.16666666666666019037e-02]


def logarithm(u):
    mantissa, exponent = math.frexp(u)  # in [1/2, 1)
    if mantissa < double(0x3FE6A09E667F3BCD):
        mantissa, exponent = 2 * mantissa, exponent - 1
    f = mantissa - 1
    s = f / (2 + f)
    z = s * s
    r = polynomial(z, LOGARITHM) * z
    h = 0.5 * f * f
    return exponent * 6.93147180369123816490e-01 - ((h - (s * (h + r) + exponent * 1.90821492927058770002e-10)) - f)


def pair(radius_word, angle_word):
    u = (radius_word >> 12) * 2.0**-52 + ((radius_word & 4095) + 0.5) * 2.0**-64
    radius = math.sqrt(-2 * logarithm(u))
    place = ((angle_word >> 10) & (2**52 - 1)) * 2.0**-52 - (0.5 - 2.0**-53)
    x = place * 1.57079632679489661923
    z = x * x
    sine = x * z * polynomial(z, SINE) + x
    cosine = 1 - (0.5 * z - z * z * polynomial(z, COSINE))
    if angle_word >> 63:
        cosine, sine = -sine, cosine
    if (angle_word >> 62) & 1:
        cosine, sine = -cosine, -sine
    return radius * cosine, radius * sine


def seed_block(key, count):
    words = keystream(key, -(-count // CHUNK) * CHUNK)
    samples = []
    for chunk in range(0, count, CHUNK):
        half = CHUNK // 2
        pairs = [pair(words[chunk + i], words[chunk + i + half]) for i in range(half)]
        samples += [p[0] for p in pairs] + [p[1] for p in pairs]
    return samples[:count]


def summed(terms):
    total = terms[0]
    for term in terms[1:]:
        total += term
    return total


def halves(terms):
    return summed(terms[0::2]) + summed(terms[1::2])


def filtered(w, dimension, states):
    z = list(w)
    for at, fresh in enumerate(w):
        s = states[at % dimension]
        even = (A[0] * s[0] + A[2] * s[2]) + A[4] * s[4]
        odd = (A[1] * s[1] + A[3] * s[3]) + A[5] * s[5]
        z[at] = fresh - (even + odd)
        for i in range(6):
            s[i] = P[i] * s[i] + fresh
    return z


def filtered_single(w, states):
    """Eight steps at a time, in the order of the page's sums."""
    s = states[0]
    beta = [-summed([A[i] * P[i] ** k for i in range(6)]) for k in range(8)]
    z = []
    for t in range(0, len(w), 8):
        x = w[t:t + 8]
        for k in range(8):
            earlier = halves([(beta[k - j - 1] if j < k else 0.0) * x[j] for j in range(7)])
            remembered = halves([(A[i] * P[i] ** k) * s[i] for i in range(6)])
            z.append(x[k] + earlier - remembered)
        for i in range(6):
            s[i] = P[i] ** 8 * s[i] + halves([P[i] ** (7 - j) * x[j] for j in range(8)])
    return z


def segment_keys():
    """Chain key, and cipher keys of blocks 1 and 0, of a segment after block 0 of the example; fresh bytes 80 … 9f."""
    first = first_chain_key(bytes(range(32)), 258, 772, 1286)
    following = hkdf_expand(first, b"nustream noise block v1" + struct.pack("<Q", 0), 64)[:32]
    chain = hmac.new(bytes(range(0x80, 0xa0)), following, hashlib.sha256).digest()
    yield chain.hex()
    for block in (1, 0):
        yield hkdf_expand(chain, b"nustream noise block v1" + struct.pack("<Q", block), 64)[32:].hex()


def main(page, dimensions):
    missing = sum(key not in page for key in segment_keys())
    print("keys of a segment", "not on the page" if missing else "on the page", flush=True)
    for dimension in dimensions:
        steps = 16
        while 2 * steps * dimension <= 16384:
            steps *= 2
        chain = first_chain_key(bytes(range(32)), 258, 772, 1286)
        states = [[0.0] * 6 for _ in range(dimension)]
        seed_hash, recurrent_hash = hashlib.sha256(), hashlib.sha256()
        for block in range(BLOCKS):
            keys = hkdf_expand(chain, b"nustream noise block v1" + struct.pack("<Q", block), 64)
            chain, cipher = keys[:32], keys[32:]
            w = seed_block(cipher, steps * dimension)
            z = filtered(w, dimension, states) if dimension > 1 else filtered_single(w, states)
            seed_hash.update(struct.pack(f"<{len(w)}d", *w))
            recurrent_hash.update(struct.pack(f"<{len(z)}d", *z))
        for name, digest in (("seed", seed_hash.hexdigest()), ("recurrent", recurrent_hash.hexdigest())):
            found = digest in page
            missing += not found
            print(dimension, name, digest, "on the page" if found else "NOT ON THE PAGE", flush=True)
    return 1 if missing else 0


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        sys.exit(main(file.read(), [int(argument) for argument in sys.argv[2:]] or [1, 10, 1000]))
