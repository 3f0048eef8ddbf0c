"""The lookup of a request's route, and the checks of the route table.

**A deprecated route has its headers on every response**, errors included. After its sunset it is 404.

**A month in a path** (`:month`) is forwarded in any form up to 32 letters, digits and hyphens. Its service responds
to an invalid one with 422.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Final

from common.auth.guards import Access
from common.web.endpoint_table import JSON_BYTES_MAX, Idempotency, Media, Route
from common.web.request_path import PREFIX

# Minimum time between notice and sunset (specification: Versioning 5). Six months are at most 184 days.
DEPRECATION_NOTICE: Final = timedelta(days=184)

# Placeholder of an id in the table's keys; an ASCII path cannot contain it.
_ID_KEY: Final = "/\N{BULLET}"
# Any segment in the place of a month (contract section 8), of the id of a webhook's event (section 7.8), or of the name
# of an identity provider (section 10.6): the service validates it.
_OTHER_SEGMENT: Final = re.compile(
    r"(?<=/statements)/[0-9A-Za-z-]{1,32}(?=/|$)|(?<=/invoices)/[0-9A-Za-z-]{1,32}$|(?<=/dead-letter-webhooks)/[^/]{1,1203}(?=/|$)"
    r"|(?<=/auth/oidc)/[0-9A-Za-z_-]{1,40}(?=/)",
    re.ASCII,
)
_ID_SEGMENT: Final = re.compile(r"/[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?=/|$)", re.ASCII)


class BadRouteTable(Exception):
    """The table contradicts itself or the contract: the gateway does not start."""


class RouteTable:
    """Find the routes of a path by a dictionary lookup. Ids are UUIDs, so a literal segment always takes precedence
    over `:id`.
    """

    def __init__(self, routes: Iterable[Route]) -> None:
        self._by_path: dict[str, dict[str, Route]] = {}
        self._has_sunsets = False
        for route in routes:
            _check(route)
            key = route.path.replace("/:id", _ID_KEY).replace("/:month", _ID_KEY)
            methods = self._by_path.setdefault(key, {})
            if route.method in methods:
                raise BadRouteTable(f"{route.name} is in the table twice")
            methods[route.method] = route
            self._has_sunsets = self._has_sunsets or route.sunset_at is not None

    def __iter__(self) -> Iterator[Route]:
        return (route for methods in self._by_path.values() for route in methods.values())

    def find(self, path: str, now: datetime) -> Mapping[str, Route]:
        """Return the active routes of a canonical path by method; empty for an unknown path."""
        methods = self._by_path.get(path) or self._by_path.get(_ID_SEGMENT.sub(_ID_KEY, path))
        if methods is None:
            methods = self._by_path.get(_ID_SEGMENT.sub(_ID_KEY, _OTHER_SEGMENT.sub(_ID_KEY, path)))
        if methods is None:
            return {}
        if self._has_sunsets:
            return {method: route for method, route in methods.items() if not is_past_sunset(route, now)}
        return methods


def canonical_path(path: str) -> str:
    """Map `/api/v1/...` to `/api/...` (contract section 1)."""
    return "/api/" + path.removeprefix(PREFIX) if path.startswith(PREFIX) else path


def allowed_methods(routes: Mapping[str, Route]) -> str:
    """Return the `Allow` header of a path: GET implies HEAD."""
    methods = set(routes) | ({"HEAD"} if "GET" in routes else set())
    return ", ".join(sorted(methods))


def is_past_sunset(route: Route, now: datetime) -> bool:
    """Return whether the sunset has passed: from then on the route is 404."""
    return route.sunset_at is not None and now >= route.sunset_at


def deprecation_headers(route: Route) -> list[tuple[bytes, bytes]]:
    """Return `Deprecation`, `Sunset` and `Link` (specification: Versioning 4); none for a route without a sunset."""
    if route.deprecated_at is None or route.sunset_at is None:
        return []
    sunset = format_datetime(route.sunset_at.astimezone(UTC), usegmt=True)
    return [
        (b"deprecation", b"@%d" % int(route.deprecated_at.timestamp())),
        (b"sunset", sunset.encode()),
        (b"link", f'<{route.successor}>; rel="sunset"'.encode()),
    ]


def _check(route: Route) -> None:
    if route.idempotency is not Idempotency.IGNORED and (route.method != "POST" or route.access is not Access.TOKEN):
        raise BadRouteTable(f"{route.name}: only a POST with a token has an idempotency key")
    is_held_in_memory = route.idempotency is not Idempotency.IGNORED and route.media is not Media.IMAGE
    if is_held_in_memory and route.body_bytes_max > JSON_BYTES_MAX:
        raise BadRouteTable(f"{route.name}: a body with an idempotency key is held in memory, so it must be small")
    if route.shared and (route.method != "GET" or route.access is not Access.ANONYMOUS):
        raise BadRouteTable(f"{route.name}: only public reads are shared")
    if route.compressed and (route.method != "GET" or route.access is not Access.ANONYMOUS):
        raise BadRouteTable(f"{route.name}: only public reads are compressed")
    if route.parts and (route.access is not Access.TOKEN or route.method not in ("GET", "POST")):
        raise BadRouteTable(f"{route.name}: only a GET or POST with a token has parts")
    if route.parts and (route.parts[0] != route.upstream or route.body_bytes_max > JSON_BYTES_MAX):
        raise BadRouteTable(f"{route.name}: `upstream` is the first part, and a body for several services is small")
    if (route.deprecated_at is None) != (route.sunset_at is None) or (route.sunset_at is None) != (
        route.successor is None
    ):
        raise BadRouteTable(f"{route.name}: deprecated_at, sunset_at and successor must be set together")
    if (
        route.deprecated_at is not None
        and route.sunset_at is not None
        and route.sunset_at - route.deprecated_at < DEPRECATION_NOTICE
    ):
        raise BadRouteTable(f"{route.name}: less than six months between deprecation and sunset")
