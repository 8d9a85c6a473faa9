import hashlib
import hmac
import re
import time


def is_genuine(header, body, secret, tolerance_seconds=300, now=None):
    """Whether a delivery was signed with this secret, at most `tolerance_seconds` ago or ahead.

    header: the X-Service-Signature header; body: the raw bytes, as received;
    secret: the whole secret, `whsec_` included.
    """
    parts = (header or "").split(",")
    times = [part for part in parts if part.startswith("t=")]
    found = re.fullmatch(r"t=([0-9]{1,15})", times[0]) if len(times) == 1 else None
    now = time.time() if now is None else now
    if not secret or not found or abs(now - int(found[1])) > tolerance_seconds:
        return False
    signed = found[1].encode() + b"." + body
    expected = b"v1=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest().encode()
    # Several v1 values may be there (a secret is being rotated); one that fits is enough.
    return any(hmac.compare_digest(part.encode(), expected) for part in parts)
