"""Posts events to a webhook as JSON, signed as the specification "Standard Webhooks" 1.0 describes it."""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from adapters.http_fetch import HttpFetcher
from core.domain.errors import BadRequest

__all__ = ["HttpWebhook", "signature"]

_PREFIX = "whsec_"  # of a secret that is base64


class HttpWebhook:
    """core.collaboration.delivery.Webhook over HTTP. secret: "" sends events unsigned."""

    def __init__(self, url: str, secret: str, web: HttpFetcher, now: Callable[[], datetime]) -> None:
        self._url, self._key, self._web, self._now = url, _key(secret), web, now

    def post(self, event: dict[str, Any]) -> None:
        """Post an event. Its `id` is its name: a receiver can tell by it that an event came twice."""
        body = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()
        name, seconds = f"fivefold-{event['id']}", str(int(self._now().timestamp()))
        headers = {"Content-Type": "application/json", "webhook-id": name, "webhook-timestamp": seconds}
        if self._key:
            headers["webhook-signature"] = signature(self._key, name, seconds, body)
        self._web.post(self._url, body, headers)


def signature(key: bytes, name: str, seconds: str, body: bytes) -> str:
    """The header "webhook-signature": HMAC-SHA256 of "<id>.<timestamp>.<body>", in base64.

    >>> signature(b"secret", "fivefold-1", "1700000000", b"{}")
    'v1,g3AFXlMjV4eJQbkDJmJi9rWhpVqYug0WK4Vmia/HBFM='
    """
    signed = b".".join((name.encode(), seconds.encode(), body))
    return f"v1,{base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()}"


def _key(secret: str) -> bytes:
    if not secret.startswith(_PREFIX):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except binascii.Error as error:
        raise BadRequest(
            f"FIVEFOLD_WEBHOOK_SECRET begins with {_PREFIX} and is not base64 after it.", "Copy the whole secret."
        ) from error
