"""Routing by campus between cells (docs/cells.md): the gateway of the campus's cell processes a request, whichever
gateway received it.

The token is read without its signature here: it only chooses the cell, whose gateway and services verify it.
"""

from collections.abc import AsyncIterator, Mapping
from functools import lru_cache
from typing import Final
from urllib.parse import parse_qs
from uuid import UUID

import msgspec
from starlette.types import Message

from api_gateway.bodies import check_announced_body, read_body, read_whole_body
from api_gateway.call import Call
from api_gateway.credentials import address_named_in
from api_gateway.forwarding import Forwarder
from common.auth.guards import Access
from common.auth.jws_parser import read_token
from common.primitives.cells import Cell, Cells, Misdirected
from common.primitives.problems import Problem
from common.web.endpoint_table import Route

# Names the cell that forwarded a request. It is forwarded once: cells that disagree would pass it around for ever.
FORWARDED_BY: Final = b"campus-cell"
_TOKENS_MAX: Final = 4096


def upstream_of(cell: Cell) -> str:
    """Return the name of a cell's gateway among the upstreams."""
    return f"cell {cell.name}"


class CellRouter:
    """Forward requests of other cells' campuses to their gateways."""

    def __init__(self, cells: Cells, forwarder: Forwarder) -> None:
        self._cells, self._forwarder = cells, forwarder

    async def respond(self, call: Call, route: Route, body_seconds: float | None) -> bool:
        """Forward a request of another cell, and return whether it was one. Webhooks stay where they arrive.

        Raises Misdirected for a request that another cell forwarded here by mistake, and UpstreamFailed.
        """
        if route.access is Access.OPEN:
            return False
        body: bytes | AsyncIterator[bytes] | None = None
        cell = self._cell_of_head(call, route)
        if cell is None and route.access is Access.CREDENTIALS:
            check_announced_body(route, call.headers)
            body = await read_whole_body(call.receive, route, body_seconds)
            call.receive = _Replayed(body, call).receive
            address = address_named_in(body)
            cell = self._cells.of_address(address) if address else None
        if cell is None or cell.name == self._cells.own:
            return False
        if FORWARDED_BY in call.headers:
            raise Misdirected(cell.name)
        if body is None and call.method not in ("GET", "HEAD"):
            check_announced_body(route, call.headers)
            body = await read_body(call.receive, route, body_seconds)
        response = await self._forwarder.send_to_gateway(
            call, route, upstream_of(cell), body or b"", {FORWARDED_BY: self._cells.own.encode()}
        )
        try:
            await self._forwarder.relay_of_gateway(call, response)
        finally:
            response.release()
        return True

    def _cell_of_head(self, call: Call, route: Route) -> Cell | None:
        """Return the cell by the campus of the token, else by the campus of the query or the path; None without one."""
        campus_id = _campus_of_token(call.headers) or _campus_of_target(call, route)
        return None if campus_id is None else self._cells.of_campus(campus_id)


def _campus_of_token(headers: Mapping[bytes, bytes]) -> UUID | None:
    scheme, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    return _campus_in(token) if token and scheme.lower() == "bearer" else None


@lru_cache(maxsize=_TOKENS_MAX)
def _campus_in(token: str) -> UUID | None:
    """Return the campus that a token claims; None for a malformed one, which the own cell rejects."""
    try:
        metadata = read_token(token).claims.get("app_metadata")
        return _uuid_or_none(metadata.get("campus_id")) if isinstance(metadata, dict) else None
    except Problem:
        return None


def _campus_of_target(call: Call, route: Route) -> UUID | None:
    if route.path.startswith("/api/campuses/:id"):
        return _uuid_or_none(call.path.split("/")[3])
    query: bytes = call.scope["query_string"]
    if b"campusId=" not in query:
        return None
    return _uuid_or_none(parse_qs(query.decode("latin-1")).get("campusId", [""])[0])


def _uuid_or_none(text: object) -> UUID | None:
    try:
        return msgspec.convert(text, UUID)
    except msgspec.ValidationError:
        return None


class _Replayed:
    """Returns a body that was read, then what the client sends after it."""

    def __init__(self, body: bytes, call: Call) -> None:
        self._body: bytes | None = body
        self._receive = call.receive

    async def receive(self) -> Message:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}
