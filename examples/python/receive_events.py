"""A partner's server: receives webhooks (docs/webhooks.md) and prints their events.

    WEBHOOK_SECRET=whsec_… PORT=8600 python3 receive_events.py
"""

import base64
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE = 5 * 60
MAX_BODY = 2**20


def is_signed(secret, headers, body, now):
    """Whether a delivery has a valid signature of Standard Webhooks, and is not older or newer than five minutes."""
    event_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isascii() or not timestamp.isdigit() or abs(now - int(timestamp)) > TOLERANCE:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = hmac.digest(key, f"{event_id}.{timestamp}.".encode() + body, "sha256")
    signatures = headers.get("webhook-signature", "").split(" ")
    expected = "v1," + base64.b64encode(expected).decode()
    # While a secret is replaced, the delivery has a signature with each secret.
    return any(hmac.compare_digest(signature.encode(), expected.encode()) for signature in signatures)


def receiver(secret, handle):
    """Returns a request handler that passes each event to `handle`, also events that arrive twice."""

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self):
            length = self.headers.get("Content-Length", "")
            size = int(length) if length.isascii() and length.isdigit() else MAX_BODY + 1
            body = self.rfile.read(size) if size <= MAX_BODY else b""
            valid = size <= MAX_BODY and is_signed(secret, self.headers, body, time.time())
            if valid:
                handle(json.loads(body))
            self.send_response(204 if valid else 400)
            self.end_headers()

        def log_message(self, *_):
            pass

    return Receiver


if __name__ == "__main__":
    seen = set()

    def handle(event):
        # The same id means the same event. Store the ids with the results.
        if event["id"] not in seen:
            print(event["type"], json.dumps(event["data"]), flush=True)
        seen.add(event["id"])

    address = ("127.0.0.1", int(os.environ.get("PORT", "8600")))
    server = ThreadingHTTPServer(address, receiver(os.environ["WEBHOOK_SECRET"], handle))
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
