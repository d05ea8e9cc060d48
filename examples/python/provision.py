"""A partner's server: creates a shadow user, and a refresh token for the user's app.

    SERVICE_URL=… BIZ_ID=… SERVER_TOKEN=… python3 provision.py

Prints what the app needs, in JSON. The refresh token is a secret of this user.
"""

import json
import os
import secrets

from service import Service


def provision(service, user_id_hex):
    """Repeating it for the same user returns the same user, and a new token."""
    user = service.call("authdBizSrv/users/create", {"user_id_hex": user_id_hex, "region": "eu-west-1"})
    ask = {"user_id_hex": user_id_hex, "context": "phone"}
    token = service.call("authdBizSrv/users/createRefreshToken", ask)["token"]
    return {"userID": user["user_id"], "refreshToken": token}


if __name__ == "__main__":
    partner = Service(os.environ["SERVICE_URL"], os.environ["BIZ_ID"], os.environ["SERVER_TOKEN"])
    # Store the id with your own account of the user.
    print(json.dumps(provision(partner, secrets.token_hex(20))))
