"""Cursor pages over lists that are ordered by time and id."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from common.primitives.cursors import CursorSigner
from common.web.http import ok

Item = TypeVar("Item")


def time_position(signer: CursorSigner, scope: Sequence[Any], cursor: str | None) -> tuple[datetime, UUID] | None:
    """Return the position of a cursor; None for the first page. Raises ValidationFailed for an invalid cursor."""
    if cursor is None:
        return None
    at, identifier = signer.open(scope, cursor)
    return datetime.fromisoformat(at), UUID(identifier)


def created_at_of(response: Mapping[str, Any]) -> list[Any]:
    """Return the position of an item with `createdAt` and `id`."""
    return [response["createdAt"], response["id"]]


def page_response(
    request: Request,
    signer: CursorSigner,
    scope: Sequence[Any],
    items: Sequence[Item],
    limit: int,
    *,
    position_of: Callable[[Item], list[Any]],
    payload_of: Callable[[Item], Any] = lambda item: item,
) -> Response:
    """Respond with a page. `items` holds one more than `limit` when a next page exists."""
    shown, has_more = items[:limit], len(items) > limit
    next_cursor = signer.sign(scope, position_of(shown[-1])) if has_more else None
    payload = [payload_of(item) for item in shown]
    return ok(request, payload, next_cursor=next_cursor, has_more=has_more, limit=limit)
