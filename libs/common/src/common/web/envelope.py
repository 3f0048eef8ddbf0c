"""The success envelope (specification: Success envelope), encoded straight to bytes."""

from datetime import datetime
from typing import Any

import msgspec

from common.primitives.clock import iso

API_VERSION = "v1"

_encode = msgspec.json.Encoder().encode


def render(payload: Any, *, request_id: str, now: datetime, **meta: Any) -> bytes:
    """`{success, data, meta}`; `meta` has the pagination fields of a list."""
    stamp = {"timestamp": iso(now), "version": API_VERSION, "requestId": request_id, **meta}
    return b'{"success":true,"data":' + _encode(payload) + b',"meta":' + _encode(stamp) + b"}"
