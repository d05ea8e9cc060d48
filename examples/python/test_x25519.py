"""The test vectors of RFC 7748, sections 5.2 and 6.1: python3 -m unittest test_x25519"""

import unittest

from x25519 import BASE_POINT, public_key_of, x25519

FUNCTION = [
    (
        "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
        "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
        "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
    ),
    (
        "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
        "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
        "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957",
    ),
]
ALICE = (
    "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
    "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a",
)
BOB = (
    "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb",
    "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f",
)
SHARED = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"


class X25519(unittest.TestCase):
    def test_function(self):
        for scalar, u, result in FUNCTION:
            self.assertEqual(x25519(bytes.fromhex(scalar), bytes.fromhex(u)).hex(), result)

    def test_iterations(self):
        k, u = BASE_POINT, BASE_POINT
        for i in range(1000):
            k, u = x25519(k, u), k
            if i == 0:
                self.assertEqual(k.hex(), "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079")
        self.assertEqual(k.hex(), "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51")

    def test_diffie_hellman(self):
        for (private_key, public_key), (_, other) in ((ALICE, BOB), (BOB, ALICE)):
            self.assertEqual(public_key_of(bytes.fromhex(private_key)).hex(), public_key)
            self.assertEqual(x25519(bytes.fromhex(private_key), bytes.fromhex(other)).hex(), SHARED)


if __name__ == "__main__":
    unittest.main()
