"""X25519 of RFC 7748, for examples without packages. It is slow, and its time depends on the private key.

In production, use the package `cryptography` (X25519PrivateKey) instead.
"""

import secrets

P = 2**255 - 19
A24 = 121665
BASE_POINT = bytes([9]) + bytes(31)


def x25519(private_key, public_key):
    """Returns the product of a private key and a public key, 32 bytes (RFC 7748, section 5)."""
    k = int.from_bytes(private_key, "little") & (2**254 - 8) | 2**254
    u = int.from_bytes(public_key, "little") & (2**255 - 1)
    x2, z2, x3, z3 = 1, 0, u, 1
    swap = 0
    for t in reversed(range(255)):
        bit = k >> t & 1
        if swap != bit:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swap = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        aa, bb, da, cb = a * a % P, b * b % P, d * a % P, c * b % P
        e = aa - bb
        x3, z3 = (da + cb) ** 2 % P, u * (da - cb) ** 2 % P
        x2, z2 = aa * bb % P, e * (aa + A24 * e) % P
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, P - 2, P) % P).to_bytes(32, "little")


def public_key_of(private_key):
    return x25519(private_key, BASE_POINT)


def generate():
    """Returns a new private key and its public key."""
    private_key = secrets.token_bytes(32)
    return private_key, public_key_of(private_key)
