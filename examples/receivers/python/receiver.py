"""Receives events and verifies their signatures. Python 3.8 or newer, nothing to install:

    WEBHOOK_SECRETS=whsec_… PORT=8092 python3 receiver.py
"""

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from verify import is_genuine

SECRETS = [secret for secret in os.environ.get("WEBHOOK_SECRETS", "").split(",") if secret]
MAX_BODY_BYTES = 1024 * 1024
# Events that were handled. A real receiver keeps them in its database.
handled = set()


def handle(payload):
    conversation = payload["conversation"]
    print(f'{payload["event"]} {payload["id"]} in {conversation["id"]} ({conversation["status"]})', flush=True)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 <= length <= MAX_BODY_BYTES:
            self.close_connection = True  # the body is left unread
            return self.answer(413)
        body = self.rfile.read(length)
        signature = self.headers.get("X-Service-Signature")
        if not any(is_genuine(signature, body, secret) for secret in SECRETS):
            return self.answer(401)
        try:
            payload = json.loads(body)
            is_manual = self.headers.get("X-Service-Redelivery") == "manual"
            if payload["id"] not in handled or is_manual:
                handle(payload)
            handled.add(payload["id"])  # only now: had handle() failed, a retry is welcome
        except Exception as error:
            self.log_error("%s", error)
            return self.answer(500)
        return self.answer(204)

    def answer(self, status):
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def log_request(self, *_):
        pass


if __name__ == "__main__":
    if not SECRETS:
        raise SystemExit("Set WEBHOOK_SECRETS to the secret of your subscription (several: separated by commas).")
    port = int(os.environ.get("PORT", "8092"))
    print(f"listening on port {port}", flush=True)
    ThreadingHTTPServer(("127.0.0.1", port), Receiver).serve_forever()
