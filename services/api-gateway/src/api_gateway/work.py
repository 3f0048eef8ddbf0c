"""Lists of which several services have a part, in one response: the caller's work and own actions (contract sections
13.6 and 13.8, decision 53), the settings (13.10), and the dead webhooks (contract section 7.8, decision 112).

**Work is merged** (`parts` of a route): `GET /api/work` calls all services at once under the caller's token. A
service that fails, or does not respond within 3 s, is named in `meta.unavailable`; its own 401, 403 or 422 is the
response (decision 53).
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, TypeVar
from urllib.parse import parse_qsl, urlencode

import msgspec

from api_gateway.call import JSON, Call
from api_gateway.connection import ClientDisconnected, UpstreamFailed
from api_gateway.forwarding import Forwarder, ResponseTooLong, read_response
from api_gateway.headers import Headers
from api_gateway.metrics import Metrics
from common.observability.logging import get_logger
from common.primitives.problems import Unavailable
from common.standard_endpoints.dead_webhooks import DeadLetterWebhookMeta
from common.standard_endpoints.pending_work import WorkMeta
from common.standard_endpoints.settings_routes import SETTINGS_PATH, ServiceSetting
from common.web import envelope
from common.web.endpoint_table import Route
from common.web.responses import Meta
from contracts.work import OWN_ACTIONS_MAX

log = get_logger(__name__)

# The services check token, permission and query alike, so each rejects a request that another one rejects.
_REJECTIONS: Final = frozenset({401, 403, 422})
# As many rows as a service sends at most (contract section 1.5).
_PAGE_ROWS_MAX: Final = 100


class WorkItem(msgspec.Struct, rename="camel"):
    """Work of one kind in one service."""

    kind: str
    count: int
    oldest_at: str
    respond_by: str | None
    link: str


class OwnAction(msgspec.Struct, rename="camel"):
    """One action of the caller in one service."""

    service: str
    act: str
    subject_kind: str
    subject_id: str
    detail: msgspec.Raw
    created_at: str


Item = TypeVar("Item", WorkItem, OwnAction, ServiceSetting)
Part = TypeVar("Part")


class _Part(msgspec.Struct, Generic[Item]):
    data: list[Item]


class _PageMeta(msgspec.Struct):
    page: int
    limit: int
    total: int


class _Place(msgspec.Struct, rename="camel"):
    """The place of a dead webhook in the merged list. Its other members are not read here."""

    failed_at: str
    id: str


class _Page(msgspec.Struct):
    """A page of an offset list of dead webhooks."""

    data: list[msgspec.Raw]
    meta: _PageMeta


@dataclass(frozen=True, slots=True)
class _Rejected:
    """A service's own error for the request."""

    status: int
    headers: Headers
    body: bytes


@dataclass(frozen=True, slots=True)
class Merge:
    """How the parts of a list without pages become one: the shape of a part, and the whole list from the items of
    all.
    """

    decode: Callable[[bytes], Any]
    whole: Callable[[list[Any]], list[Any]]


def _urgency(item: WorkItem) -> tuple[bool, str, str, str]:
    """Return the earliest deadline first, then the oldest; ISO 8601 times in UTC sort as texts."""
    return item.respond_by is None, item.respond_by or "", item.oldest_at, item.link


def _newest(actions: list[OwnAction]) -> list[OwnAction]:
    """As many as each service sends at most: what is older than the last may be incomplete."""
    return sorted(actions, key=lambda action: action.created_at, reverse=True)[:OWN_ACTIONS_MAX]


MERGES: Final[Mapping[str, Merge]] = {
    "/api/work": Merge(msgspec.json.Decoder(_Part[WorkItem]).decode, lambda items: sorted(items, key=_urgency)),
    "/api/staff-acts/current": Merge(msgspec.json.Decoder(_Part[OwnAction]).decode, _newest),
    SETTINGS_PATH: Merge(msgspec.json.Decoder(_Part[ServiceSetting]).decode, lambda settings: settings),
}
_decode_place: Final = msgspec.json.Decoder(_Place).decode
_decode_page: Final = msgspec.json.Decoder(_Page).decode


class MergedLists:
    """Call all services at once, under the caller's token. A service without a response is named in
    `meta.unavailable`.
    """

    def __init__(
        self, forwarder: Forwarder, metrics: Metrics, seconds_max: float, own_settings: Sequence[ServiceSetting] = ()
    ) -> None:
        """`own_settings` are those of the edge, which come before those of the services."""
        self._forwarder, self._metrics, self._seconds_max = forwarder, metrics, seconds_max
        self._own: Mapping[str, Sequence[Any]] = {SETTINGS_PATH: own_settings}

    async def respond(self, call: Call, route: Route) -> None:
        """Respond with the merged list, or with the services' own error for the request (401, 403, 422).

        Raises Unavailable when no service responded.
        """
        merge = MERGES.get(route.path)
        reads = (
            (self._read(call, route, service, merge.decode) for service in route.parts)
            if merge
            else (self._read_rows(call, route, service) for service in route.parts)
        )
        responses = await asyncio.gather(*reads)
        parts = []
        for response in responses:
            if isinstance(response, _Rejected):
                await self._forwarder.relay_body(call, response.status, response.headers, response.body)
                return
            if response is not None:
                parts.append(response)
        if not parts:
            raise Unavailable
        unavailable = [service for service, response in zip(route.parts, responses, strict=True) if response is None]
        if merge is None:
            items, place = _merged_page(parts, is_ascending=_query_of(call).get("order") == "asc")
            meta: type[Meta] = DeadLetterWebhookMeta
        else:
            items = [*self._own.get(route.path, ()), *(item for part in parts for item in part.data)]
            items, place, meta = merge.whole(items), {}, WorkMeta
        # A newer service may send members and words that this gateway does not know.
        encoded = msgspec.Raw(msgspec.json.encode(items))
        body = envelope.render(
            encoded, request_id=call.request_id, now=call.instant, meta=meta, **place, unavailable=unavailable
        )
        await call.respond(200, [(b"content-type", JSON)], body)

    async def _read_rows(self, call: Call, route: Route, service: str) -> _Page | _Rejected | None:
        """Return all rows of a service up to the end of the requested page: each of them may be on the merged page."""
        response = await self._read(call, route, service, _decode_page)
        if response is None or isinstance(response, _Rejected) or response.meta.page == 1:
            return response
        rows: list[msgspec.Raw] = []
        end = min(response.meta.page * response.meta.limit, response.meta.total)
        for page in range(1, -(-end // _PAGE_ROWS_MAX) + 1):
            query = urlencode({**_query_of(call), "page": page, "limit": _PAGE_ROWS_MAX}).encode()
            more = await self._read(call, route, service, _decode_page, query)
            if more is None or isinstance(more, _Rejected):
                return more
            rows += more.data
        return _Page(rows, response.meta)

    async def _read(
        self, call: Call, route: Route, service: str, decode: Callable[[bytes], Part], query: bytes | None = None
    ) -> Part | _Rejected | None:
        """Return the decoded response of a service, its error for the request, or None without a usable response."""
        part_route = replace(route, upstream=service, seconds_max=self._seconds_max)
        try:
            response = await self._forwarder.send_request(
                call, part_route, b"", watch_client=False, headers=_token_of(call), query=query
            )
            try:
                body = await read_response(response)
            finally:
                response.release()
            if response.status in _REJECTIONS:
                return _Rejected(response.status, response.headers, body)
            if response.status == 200:
                return decode(body)
            failure: int | str = response.status
        except (UpstreamFailed, ClientDisconnected, ResponseTooLong, msgspec.DecodeError) as error:
            failure = repr(error)
        self._metrics.upstream_failures[service] += 1
        log.error("part of a service is missing", path=route.path, upstream=service, error=failure)
        return None


def _merged_page(parts: list[_Page], *, is_ascending: bool) -> tuple[list[msgspec.Raw], dict[str, int]]:
    """Return the rows of the requested page of all parts together, by the time of failure, and its `meta`."""
    page, limit = parts[0].meta.page, parts[0].meta.limit
    total = sum(part.meta.total for part in parts)
    rows = [row for part in parts for row in part.data]
    # ISO 8601 times in UTC sort as texts.
    rows.sort(key=_place_of, reverse=not is_ascending)
    meta = {"page": page, "limit": limit, "total": total, "total_pages": -(-total // limit)}
    return rows[(page - 1) * limit : page * limit], meta


def _place_of(row: msgspec.Raw) -> tuple[str, str]:
    place = _decode_place(row)
    return place.failed_at, place.id


def _query_of(call: Call) -> dict[str, str]:
    """Return the parameters of a query that the services accepted: each of them once."""
    return dict(parse_qsl(call.scope["query_string"].decode("ascii"), keep_blank_values=True))


def _token_of(call: Call) -> dict[bytes, bytes]:
    return {b"authorization": call.headers[b"authorization"]}
