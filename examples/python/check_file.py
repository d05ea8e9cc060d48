"""Checks a Merkle-tree file of X25519 users, and prints a user's public key in base64.

    python3 check_file.py <root>.json <user id>

Written from docs/formats.md alone, with Python's standard library. Read the root from the contract, or from a source that
the file's host does not control: it is the name of the file.
"""

import base64
import hashlib
import json
import re
import sys
from pathlib import Path

P = 2**255 - 19
LOW_ORDER = {
    0,
    1,
    325606250916557431795983626356110631294008115727848805560023387167927233504,
    39382357235489614581723060781553021112529911719440698176882885853963445705823,
    P - 1,
}
USER_ID = re.compile(r"[ybndrfg8ejkmcpqxot1uwisza345h769]{32}")
HEADER = {"root", "hashalgo", "leaves", "levels"}


class Invalid(Exception):
    pass


def require(condition, problem):
    if not condition:
        raise Invalid(problem)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def unique(pairs):
    """Builds an object, and rejects a key that occurs twice."""
    result = dict(pairs)
    require(len(result) == len(pairs), "a key occurs twice")
    return result


def forbidden(token):
    raise Invalid(f"the token {token} is not allowed")


def read_integer(token):
    """Reads a number of the format, which has no negative numbers. Python would read -0 as 0."""
    return forbidden(token) if token.startswith("-") else int(token)


def read_json(text):
    return json.loads(
        text, object_pairs_hook=unique, parse_float=forbidden, parse_constant=forbidden, parse_int=read_integer
    )


def read_base64(text, length):
    require(isinstance(text, str), "a key is not a text")
    data = base64.b64decode(text, validate=True)
    require(base64.b64encode(data).decode() == text, "base64 is not canonical")
    require(len(data) == length, f"{len(data)} bytes instead of {length}")
    return data


def read_record(text):
    require(isinstance(text, str), "a value is not a text")
    require(not re.fullmatch(r"[0-9a-f]{128}", text), "a value looks like a node")
    record = read_json(text)
    require(isinstance(record, dict) and set(record) == {"userID", "pubKey", "keyID"}, "a record has other fields")
    require(isinstance(record["userID"], str) and USER_ID.fullmatch(record["userID"]), "a user id is malformed")
    return record["userID"], read_base64(record["pubKey"], 32), read_base64(record["keyID"], 16)


def check_key(public_key, key_id):
    u = int.from_bytes(public_key, "little")
    require(u < P, "the key is not canonical")
    require(u not in LOW_ORDER, "the key is a point of low order")
    require(hashlib.sha256(public_key).digest()[:16] == key_id, "the key id is another key's")


def build_merkle(values):
    levels = [[sha256(value.encode()) for value in values]]
    while len(levels[-1]) > 1:
        below = levels[-1]
        pairs = [(below[i], below[min(i + 1, len(below) - 1)]) for i in range(0, len(below), 2)]
        levels.append([sha256((left + right).encode()) for left, right in pairs])
    root = levels[-1][0]
    merkle = {"root": root, "hashalgo": "sha256", "leaves": len(values), "levels": len(levels)}
    for level, hashes in enumerate(levels):
        for i, node in enumerate(hashes):
            is_root = level == len(levels) - 1
            below = levels[level - 1] if level > 0 else None
            merkle[node] = {
                "type": "root" if is_root else "leaf" if level == 0 else "node",
                "level": level,
                "left": below[2 * i] if below else "data",
                "right": below[min(2 * i + 1, len(below) - 1)] if below else "data",
                "parent": "root" if is_root else levels[level + 1][i // 2],
            }
    return root, merkle


def same(actual, expected):
    """Compares values and their types: in Python, True equals 1."""
    if isinstance(expected, dict):
        return (
            isinstance(actual, dict)
            and set(actual) == set(expected)
            and all(same(actual[key], expected[key]) for key in expected)
        )
    return type(actual) is type(expected) and actual == expected


def check_file(data, root, user_id, every_key=False):
    """Returns the user's key. A contact's app needs only this key; publishers and auditors check every key."""
    file = read_json(data.decode("utf-8"))
    require(isinstance(file, dict) and set(file) == {"merkle", "values", "lookup"}, "the file has other keys")
    values = file["values"]
    require(isinstance(values, list) and values, "values must be a list of records")
    records = [read_record(value) for value in values]
    users = [user for user, _, _ in records]
    require(len(set(users)) == len(users), "a user has two records")
    actual, merkle = build_merkle(values)
    require(actual == root, f"the root of the values is {actual}")
    require(same(file["lookup"], {user: i for i, user in enumerate(users)}), "lookup is wrong")
    require(isinstance(file["merkle"], dict), "merkle must be an object")
    missing = {key: merkle[key] for key in HEADER - set(file["merkle"])}
    require(same({**file["merkle"], **missing}, merkle), "merkle is wrong")
    require(user_id in users, "the file has no record of this user")
    own = records[users.index(user_id)]
    for _, public_key, key_id in records if every_key else [own]:
        check_key(public_key, key_id)
    return own[1]


def main(path, user_id):
    try:
        root = Path(path).stem
        require(re.fullmatch(r"[0-9a-f]{64}", root), "the file's name must be its root")
        public_key = check_file(Path(path).read_bytes(), root, user_id, every_key=True)
        print(base64.b64encode(public_key).decode())
    except (Invalid, ValueError, RecursionError) as error:
        sys.exit(f"{path} is invalid: {error}")


if __name__ == "__main__":
    main(*sys.argv[1:])
