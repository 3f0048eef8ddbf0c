"""The success envelope (specification: Success envelope), encoded straight to bytes."""

from datetime import datetime
from typing import Final

import msgspec

from common.primitives.clock import iso
from common.web.responses import Meta, Payload

API_VERSION: Final = "v1"

_encode: Final = msgspec.json.Encoder().encode


def render(payload: Payload, *, request_id: str, now: datetime, meta: type[Meta] = Meta, **fields: object) -> bytes:
    """`{success, data, meta}`. Raises TypeError for `fields` that are not those which `meta` adds."""
    context = meta(timestamp=iso(now), version=API_VERSION, request_id=request_id, **fields)
    return b'{"success":true,"data":' + _encode(payload) + b',"meta":' + _encode(context) + b"}"
