"""Answers that a client may keep and ask about (contract section 4): a tag over what they say, and 304 when it still stands."""

import hashlib
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import Caller
from common.web.http import ok

_encode: Final = msgspec.json.Encoder().encode
# May be kept by anybody, and is asked about before each use: a price that changed is seen at once.
SHOWN_TO_ALL: Final = "public, no-cache"


def ok_or_unchanged(
    request: Request, payload: Any, caller: Caller, *, revision: int | None = None, **meta: Any
) -> Response:
    """The success envelope with its ETag, or 304 without a body. Time and request id of the envelope are not in the tag.

    The tag of a resource with a revision begins with it, so that it can be sent back in If-Match.
    """
    body = _encode(payload)
    digest = hashlib.sha256(body)
    if meta:
        digest.update(repr(meta).encode())
    tag = f'W/"{digest.hexdigest()[:24]}"' if revision is None else f'W/"{revision}-{digest.hexdigest()[:24]}"'
    headers = {"ETag": tag}
    if caller.user_id is None:
        headers["Cache-Control"] = SHOWN_TO_ALL
    known = request.headers.get("if-none-match")
    if known is not None and (known.strip() == "*" or tag in (one.strip() for one in known.split(","))):
        return Response(status_code=304, headers=headers)
    return ok(request, msgspec.Raw(body), headers=headers, **meta)
