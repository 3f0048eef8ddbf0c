"""Conditional responses: an ETag over the content, and 304 while it is unchanged (contract section 4).

**ETags cover the content.** Product, list and categories have a weak ETag over `data` and pagination. Anonymous
responses are `public, no-cache`. The gateway shares them for seconds and drops them on `orders.product_changed.v1`. A
suspension or a new vendor name is no change of a product, so anonymous readers may see it up to `EDGE_CACHE_SECONDS`
(5) later; a checkout is rejected immediately.
"""

import hashlib
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import Caller
from common.web.http import ok
from common.web.response_models import ResponseModel
from common.web.responses import Meta

_encode: Final = msgspec.json.Encoder().encode
# Shared caches may store it and must revalidate it, so that a changed price shows at once.
PUBLIC_REVALIDATED: Final = "public, no-cache"


def ok_or_unchanged(
    request: Request,
    payload: ResponseModel | Sequence[ResponseModel],
    caller: Caller,
    *,
    revision: int | None = None,
    meta: type[Meta] = Meta,
    **fields: Any,
) -> Response:
    """Return the success envelope with its ETag, or 304 without a body. The tag excludes the envelope's time and
    request id.

    The tag of a resource with a revision starts with the revision, so that a client can send it in If-Match.
    """
    body = _encode(payload)
    digest = hashlib.sha256(body)
    if fields:
        digest.update(repr(fields).encode())
    tag = f'W/"{digest.hexdigest()[:24]}"' if revision is None else f'W/"{revision}-{digest.hexdigest()[:24]}"'
    headers = {"ETag": tag}
    if caller.user_id is None:
        headers["Cache-Control"] = PUBLIC_REVALIDATED
    if is_known(request, tag):
        return Response(status_code=304, headers=headers)
    return ok(request, msgspec.Raw(body), headers=headers, meta=meta, **fields)


def is_known(request: Request, tag: str) -> bool:
    """Return whether the client has the content of this tag (If-None-Match)."""
    known = request.headers.get("if-none-match")
    return known is not None and (known.strip() == "*" or tag in (one.strip() for one in known.split(",")))
