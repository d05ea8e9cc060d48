"""A client of the partner service's API (docs/openapi.json), with Python's standard library."""

import json
import urllib.error
import urllib.request

MAX_BYTES = 2**22
TIMEOUT = 20


class ServiceError(Exception):
    """A problem document of the service. `code` is stable, and docs/errors.md lists all codes."""

    def __init__(self, status, problem):
        super().__init__(f"{problem.get('code')}: {problem.get('detail')} (request {problem.get('request_id')})")
        self.status = status
        self.code = problem.get("code")


class Refused(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, because another host would receive the token."""

    def redirect_request(self, *_):
        return None


OPENER = urllib.request.build_opener(Refused)


def post(url, body, headers=None):
    """Sends JSON and returns the status and the JSON of the response."""
    headers = {"Content-Type": "application/json", **(headers or {})}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers, method="POST")
    try:
        with OPENER.open(request, timeout=TIMEOUT) as response:
            return response.status, read(response)
    except urllib.error.HTTPError as error:
        with error:
            if error.headers.get_content_type() != "application/problem+json":
                raise
            return error.code, read(error)


def read(response):
    data = response.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError("the response is too large")
    return json.loads(data)


class Service:
    """Calls operations with one refresh token or server token, which it exchanges for access tokens of four hours."""

    def __init__(self, url, biz_id, token):
        self.url = url.rstrip("/")
        self.credentials = {"biz_id": biz_id, "token": token}
        self.access_token = None

    def call(self, operation, body):
        """Calls an operation, such as `authdBizSrv/users/create`. Raises ServiceError."""
        if self.access_token is not None:
            try:
                return self.send(operation, body, self.access_token)
            except ServiceError as error:
                if error.code not in ("ACCESS_TOKEN_EXPIRED", "ACCESS_TOKEN_INVALID"):
                    raise
        self.access_token = self.send("public/auth/jwt", self.credentials)["jwt"]
        return self.send(operation, body, self.access_token)

    def send(self, operation, body, access_token=None):
        headers = {} if access_token is None else {"Authorization": f"Bearer {access_token}"}
        status, answer = post(f"{self.url}/v1/{operation}", body, headers)
        if status >= 400:
            raise ServiceError(status, answer)
        return answer
