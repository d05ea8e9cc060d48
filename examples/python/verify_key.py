"""A contact's app: verifies a user's X25519 key against the chain.

    RPC_URL=… CHAIN_ID=… CONTRACT=… MERKLE_URL=… python3 verify_key.py USER_ID [EXPECTED_PUBLIC_KEY]

Prints the published key in base64. EXPECTED_PUBLIC_KEY is the key that the service gave for the user. The contract's answer is
one endpoint's word (`oneEndpoint()` of the library): use your own node, or compare the answers of several providers.
"""

import base64
import os
import sys
import urllib.error

from check_file import Invalid, check_file, require
from register import user_id_bytes
from service import OPENER, TIMEOUT, post

GET_USER_INFO = "0x829a34c6"
MAX_FILE = 2**26


class NotPublished(Exception):
    pass


def call_rpc(url, method, params):
    status, answer = post(url, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    require(isinstance(answer, dict) and answer.get("id") == 1 and "result" in answer, f"{method} failed: {answer}")
    return answer["result"]


def root_of(config, user_id):
    """Reads the user's root from the contract (docs/formats.md, "Contract")."""
    chain_id = int(str(call_rpc(config["rpc"], "eth_chainId", [])), 16)
    require(chain_id == config["chain_id"], f"the endpoint's chain is {chain_id}, not {config['chain_id']}")
    data = GET_USER_INFO + user_id_bytes(user_id).hex().ljust(64, "0")
    result = call_rpc(config["rpc"], "eth_call", [{"to": config["contract"], "data": data}, "latest"])
    # A root and a block number. An address without a contract returns no bytes.
    require(isinstance(result, str) and len(result) == 2 + 128, "the contract is not a registry")
    root = result[2:66].lower()
    if int(root, 16) == 0:
        raise NotPublished("The user has no published key.")
    return root


def verify(config, user_id, expected=None):
    """Returns the user's published key, 32 bytes. Raises NotPublished, and Invalid if anything is forged."""
    root = root_of(config, user_id)
    with OPENER.open(f"{config['merkle_url'].rstrip('/')}/{root}.json", timeout=TIMEOUT) as response:
        file = response.read(MAX_FILE + 1)
    require(len(file) <= MAX_FILE, "the file is too large")
    public_key = check_file(file, root, user_id)
    require(expected is None or public_key == expected, "the service gave another key than the published one")
    return public_key


def main(user_id, expected=None):
    env = os.environ
    config = {
        "rpc": env["RPC_URL"],
        "chain_id": int(env["CHAIN_ID"]),
        "contract": env["CONTRACT"],
        "merkle_url": env["MERKLE_URL"],
    }
    given = None if expected is None else base64.b64decode(expected, validate=True)
    try:
        print(base64.b64encode(verify(config, user_id, given)).decode())
    except (Invalid, NotPublished, ValueError, RecursionError) as error:
        sys.exit(f"{user_id} is not verified: {error}")
    except urllib.error.URLError as error:
        sys.exit(f"{user_id} is not verified yet, because a server is unavailable: {error}")


if __name__ == "__main__":
    main(*sys.argv[1:])
