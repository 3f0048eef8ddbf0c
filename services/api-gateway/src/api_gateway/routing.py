"""The model of a route and the lookup of a request's route. `routes.py` holds the table."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from enum import Enum
from typing import Final

from common.auth.guards import Guard
from common.web.request_path import PREFIX

KIB: Final = 1024
SIGNED_IN: Final = Guard()
JSON_BYTES_MAX: Final = 256 * KIB
# Minimum time between notice and sunset (specification: Versioning 5). Six months are at most 184 days.
DEPRECATION_NOTICE: Final = timedelta(days=184)

# Placeholder of an id in the table's keys; an ASCII path cannot contain it.
_ID_KEY: Final = "/\N{BULLET}"
# Any segment in the place of a month (contract section 8), or of the id of a webhook's event (section 7.8): the service
# validates it.
_OTHER_SEGMENT: Final = re.compile(
    r"(?<=/statements)/[0-9A-Za-z-]{1,32}(?=/|$)|(?<=/dead-letter-webhooks)/[^/]{1,1203}(?=/)", re.ASCII
)
_ID_SEGMENT: Final = re.compile(r"/[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?=/|$)", re.ASCII)


class Access(Enum):
    """The credentials that the gateway checks before forwarding. Each service checks again."""

    ANONYMOUS = "anonymous"
    """A token is optional and must be valid."""
    TOKEN = "token"  # noqa: S105
    """A valid token is required."""
    CREDENTIALS = "credentials"
    """The body names the caller. A token, perhaps expired, is ignored and forwarded only with `passes_token`."""
    OPEN = "open"
    """A signature or the service key identifies the caller, and the service verifies it."""


class Quota(Enum):
    """The counter of a request (contract section 4)."""

    BY_CALLER = "tier 1, 2 or 3"
    SENSITIVE = "tier 4, by user or address"
    ACCOUNT = "tier 4, by address and account named in the body, with a ceiling by address"
    SESSION = "tier 4, by the session named in the body; refused tokens by address"
    ASSISTANT = "tier 5"
    IMAGES = "outside the tiers, by address, with a limit for images"
    MACHINES = "outside the tiers, by address"
    UNCOUNTED = "not counted"


class Idempotency(Enum):
    """The role of `Idempotency-Key` (contract section 3)."""

    REQUIRED = "required"
    ACCEPTED = "accepted"
    IGNORED = "ignored"


class Media(Enum):
    """The media type of a request body."""

    JSON = "application/json"
    IMAGE = "multipart/form-data"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Route:
    """One line of the route table. `seconds_max` is the longest tolerated silence of the service.

    `is_shared`: anonymous readers may share a response for a few seconds. `is_page`: a successful response is a page
    for browsers with its own content policy. `is_compressed`: responses hold no secret, so they may be compressed.

    `guard`: the service's guard of an operation with an idempotency key, so that a stored response is replayed only to
    admitted callers. `passes_token`: the service of a CREDENTIALS route reads a token.

    `parts`: the services that each respond with a part of one list, which the gateway merges; `upstream` is one of them.
    A POST is sent to one after the other until a service has its subject: the response of the others is 404.
    """

    method: str
    path: str
    upstream: str
    quota: Quota = Quota.BY_CALLER
    access: Access = Access.TOKEN
    idempotency: Idempotency = Idempotency.IGNORED
    media: Media = Media.JSON
    body_bytes_max: int = JSON_BYTES_MAX
    seconds_max: float = 30.0
    is_shared: bool = False
    is_page: bool = False
    is_compressed: bool = False
    guard: Guard = SIGNED_IN
    passes_token: bool = False
    parts: tuple[str, ...] = ()
    deprecated_at: datetime | None = None
    sunset_at: datetime | None = None
    successor: str | None = None

    @property
    def name(self) -> str:
        """Method and template, the label in metrics and traces."""
        return f"{self.method} {self.path}"

    def is_past_sunset(self, now: datetime) -> bool:
        """Whether the sunset has passed: from then on the route is 404."""
        return self.sunset_at is not None and now >= self.sunset_at

    @property
    def deprecation_headers(self) -> list[tuple[bytes, bytes]]:
        """`Deprecation`, `Sunset` and `Link` (specification: Versioning 4); none for a route without a sunset."""
        if self.deprecated_at is None or self.sunset_at is None:
            return []
        sunset = format_datetime(self.sunset_at.astimezone(UTC), usegmt=True)
        return [
            (b"deprecation", b"@%d" % int(self.deprecated_at.timestamp())),
            (b"sunset", sunset.encode()),
            (b"link", f'<{self.successor}>; rel="sunset"'.encode()),
        ]


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
            methods = self._by_path.get(_OTHER_SEGMENT.sub(_ID_KEY, path))
        if methods is None:
            return {}
        if self._has_sunsets:
            return {method: route for method, route in methods.items() if not route.is_past_sunset(now)}
        return methods


def canonical_path(path: str) -> str:
    """Map `/api/v1/...` to `/api/...` (contract section 1)."""
    return "/api/" + path.removeprefix(PREFIX) if path.startswith(PREFIX) else path


def allowed_methods(routes: Mapping[str, Route]) -> str:
    """Return the `Allow` header of a path: GET implies HEAD."""
    methods = set(routes) | ({"HEAD"} if "GET" in routes else set())
    return ", ".join(sorted(methods))


def _check(route: Route) -> None:
    if route.idempotency is not Idempotency.IGNORED and (route.method != "POST" or route.access is not Access.TOKEN):
        raise BadRouteTable(f"{route.name}: only a POST with a token has an idempotency key")
    is_held_in_memory = route.idempotency is not Idempotency.IGNORED and route.media is not Media.IMAGE
    if is_held_in_memory and route.body_bytes_max > JSON_BYTES_MAX:
        raise BadRouteTable(f"{route.name}: a body with an idempotency key is held in memory, so it must be small")
    if route.is_shared and (route.method != "GET" or route.access is not Access.ANONYMOUS):
        raise BadRouteTable(f"{route.name}: only public reads are shared")
    if route.is_compressed and (route.method != "GET" or route.access is not Access.ANONYMOUS):
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
