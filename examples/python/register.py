"""A user's app: registers a new X25519 key with proof of possession (docs/formats.md).

    SERVICE_URL=… BIZ_ID=… REFRESH_TOKEN=… USER_ID=… CHAIN_ID=… CONTRACT=… python3 register.py KEY_FILE

Stores the private key in the file before it registers the public key, because a registered key cannot be replaced. A file
that exists is used again, so that you can repeat the command. The service never receives the private key. Prints the state
and the public key in base64, as JSON.
"""

import base64
import hashlib
import hmac
import json
import os
import sys

from check_file import check_key
from service import Service
from x25519 import generate, public_key_of, x25519

LABEL = b"keyroot-possession-x25519-v1"
DIGITS = "ybndrfg8ejkmcpqxot1uwisza345h769"


class Mismatch(Exception):
    """The challenge is for another user, service, registry or key type than this app is configured for."""


def to_base64(data):
    return base64.b64encode(data).decode()


def from_base64(text):
    return base64.b64decode(text, validate=True)


def user_id_bytes(user_id):
    number = 0
    for digit in user_id:
        number = 32 * number + DIGITS.index(digit)
    return number.to_bytes(20, "big")


def key_id_of(public_key):
    return hashlib.sha256(public_key).digest()[:16]


def transcript_of(config, public_key, challenge):
    """The service, chain and contract are this app's own, so a proof is worthless at any other service."""
    name = config["service"].rstrip("/").encode()
    return b"".join(
        [
            LABEL,
            len(name).to_bytes(2, "big") + name,
            config["chain_id"].to_bytes(8, "big"),
            bytes.fromhex(config["contract"][2:]),
            user_id_bytes(config["user_id"]),
            public_key + key_id_of(public_key),
            from_base64(challenge["challenge"]),
            from_base64(challenge["ephemeral_key"]),
            challenge["expires"].to_bytes(8, "big"),
        ]
    )


def respond(config, private_key, public_key, challenge):
    """Computes the response to a challenge."""
    ephemeral_key = from_base64(challenge["ephemeral_key"])
    # With a point of low order, the response would not depend on the private key.
    check_key(ephemeral_key, key_id_of(ephemeral_key))
    shared = x25519(private_key, ephemeral_key)
    # HKDF-SHA-256 (RFC 5869) with one block of output.
    extracted = hmac.digest(from_base64(challenge["challenge"]), shared, "sha256")
    mac_key = hmac.digest(extracted, LABEL + b"\x01", "sha256")
    return hmac.digest(mac_key, transcript_of(config, public_key, challenge), "sha256")


def register(service, config, private_key, public_key):
    """Registers a key. Repeating it has no effect. Returns the user's record."""
    key = {"public_key": to_base64(public_key), "key_id": to_base64(key_id_of(public_key))}
    challenge = service.call("authdUser/publicKey/challenge", key)
    expected = {
        "user_id": config["user_id"],
        "key_type": "x25519",
        "service": config["service"].rstrip("/"),
        "chain_id": config["chain_id"],
        "contract": config["contract"].lower(),
    }
    for field, value in expected.items():
        actual = challenge.get(field)
        if (actual.lower() if field == "contract" and isinstance(actual, str) else actual) != value:
            raise Mismatch(f"The challenge's {field} is {actual}; this app is configured for {value}.")
    if challenge["state"] != "unregistered":
        return service.call("authdUser/publicKey/register", key)
    response = respond(config, private_key, public_key, challenge)
    proof = {"challenge": challenge["challenge"], "response": to_base64(response)}
    return service.call("authdUser/publicKey/register", {**key, **proof})


def load_or_store_key(path):
    """Returns a key pair. Stores a new private key in a file that only the file's owner may read."""
    private_key, public_key = generate()
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(to_base64(private_key))
            file.flush()
            os.fsync(file.fileno())
        return private_key, public_key
    except FileExistsError:
        with open(path) as file:
            private_key = from_base64(file.read().strip())
        return private_key, public_key_of(private_key)


if __name__ == "__main__":
    env = os.environ
    user = Service(env["SERVICE_URL"], env["BIZ_ID"], env["REFRESH_TOKEN"])
    own = {
        "service": env["SERVICE_URL"],
        "chain_id": int(env["CHAIN_ID"]),
        "contract": env["CONTRACT"],
        "user_id": env["USER_ID"],
    }
    private, public = load_or_store_key(sys.argv[1])
    record = register(user, own, private, public)
    print(json.dumps({"state": record["state"], "publicKey": to_base64(public)}))
