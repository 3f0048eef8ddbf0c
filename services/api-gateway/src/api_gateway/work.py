"""Lists of which each service has a part, in one response: the caller's work and own actions (contract sections 13.6 and
13.8, decision 53).
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, TypeVar

import msgspec

from api_gateway.call import JSON, Call
from api_gateway.connection import ClientDisconnected, UpstreamFailed
from api_gateway.forwarding import Forwarder, ResponseTooLong, read_response
from api_gateway.headers import Headers
from api_gateway.metrics import Metrics
from api_gateway.routing import Route
from common.observability.logging import get_logger
from common.primitives.problems import Unavailable
from common.web import envelope
from contracts.work import OWN_ACTIONS_MAX

log = get_logger(__name__)

# The services check token, permission and query alike, so each rejects a request that another one rejects.
_REJECTIONS: Final = frozenset({401, 403, 422})


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
    detail: dict[str, Any]
    created_at: str


Item = TypeVar("Item", WorkItem, OwnAction)


class _Part(msgspec.Struct, Generic[Item]):
    data: list[Item]


@dataclass(frozen=True, slots=True)
class Merge:
    """How the parts of a list become one: the shape of a part, and the whole list from the items of all parts."""

    decode: Callable[[bytes], Any]
    whole: Callable[[list[Any]], list[Any]]


def _urgency(item: WorkItem) -> tuple[bool, str, str, str]:
    """The earliest deadline first, then the oldest; ISO 8601 times in UTC sort as texts."""
    return item.respond_by is None, item.respond_by or "", item.oldest_at, item.link


def _newest(actions: list[OwnAction]) -> list[OwnAction]:
    """As many as each service sends at most: what is older than the last may be incomplete."""
    return sorted(actions, key=lambda action: action.created_at, reverse=True)[:OWN_ACTIONS_MAX]


MERGES: Final[Mapping[str, Merge]] = {
    "/api/work": Merge(msgspec.json.Decoder(_Part[WorkItem]).decode, lambda items: sorted(items, key=_urgency)),
    "/api/staff-acts/current": Merge(msgspec.json.Decoder(_Part[OwnAction]).decode, _newest),
}


class MergedLists:
    """Call all services at once, under the caller's token. A service without a response is named in `meta.unavailable`."""

    def __init__(self, forwarder: Forwarder, metrics: Metrics, seconds_max: float) -> None:
        self._forwarder, self._metrics, self._seconds_max = forwarder, metrics, seconds_max

    async def respond(self, call: Call, route: Route) -> None:
        """Respond with the merged list, or with the services' own error for the request (401, 403, 422).

        Raises Unavailable when no service responded.
        """
        merge = MERGES[route.path]
        responses = await asyncio.gather(*(self._part(call, route, merge, service) for service in route.parts))
        items: list[Any] = []
        unavailable = []
        for service, response in zip(route.parts, responses, strict=True):
            if response is None:
                unavailable.append(service)
            elif isinstance(response, list):
                items += response
            else:
                await self._forwarder.relay_body(call, *response)
                return
        if len(unavailable) == len(route.parts):
            raise Unavailable
        body = envelope.render(
            merge.whole(items), request_id=call.request_id, now=call.instant, unavailable=unavailable
        )
        await call.respond(200, [(b"content-type", JSON)], body)

    async def _part(
        self, call: Call, route: Route, merge: Merge, service: str
    ) -> list[Any] | tuple[int, Headers, bytes] | None:
        """Return the items of a service, its error for the request, or None without a usable response."""
        part_route = replace(route, upstream=service, seconds_max=self._seconds_max)
        try:
            response = await self._forwarder.send_request(
                call, part_route, b"", watch_client=False, headers=_token_of(call)
            )
            try:
                body = await read_response(response)
            finally:
                response.release()
            if response.status in _REJECTIONS:
                return response.status, response.headers, body
            if response.status == 200:
                return list(merge.decode(body).data)
            failure: Any = response.status
        except (UpstreamFailed, ClientDisconnected, ResponseTooLong, msgspec.DecodeError) as error:
            failure = repr(error)
        self._metrics.upstream_failures[service] += 1
        log.error("part of a service is missing", path=route.path, upstream=service, error=failure)
        return None


def _token_of(call: Call) -> dict[bytes, bytes]:
    return {b"authorization": call.headers[b"authorization"]}
