"""The endpoints of all services as the edge reads them: one line each in `contracts/endpoints.txt` (decision 104).

`make documents` writes the lines from the declarations. A line has the columns of `COLUMNS`, then the edge's further
rules, such as `seconds_max=100.0` or `compressed`. Ids in a path are written `:id`, months `:month`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any, Final, TypedDict

import contracts
from common.auth.guards import SIGNED_IN, Access, Guard

KIB: Final = 1024
MIB: Final = 1024 * KIB
JSON_BYTES_MAX: Final = 256 * KIB
_TABLE: Final = Path(contracts.__file__).with_name("endpoints.txt")
COLUMNS: Final = ("method", "path", "services", "who", "aal2", "idempotency", "quota", "operationId", "statuses")
_WIDTHS: Final = (6, 60, 13, 40, 5, 11, 9, 36, 0)
# A month is called one; everything else in a path is an id.
_PARAMETER: Final = re.compile(r"\{(?!month\})[^}]*\}")


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
    """The service binds the key too: a repetition that reaches it again has no second effect (decision 152)."""
    ACCEPTED = "accepted"
    IGNORED = "ignored"


class Media(Enum):
    """The media type of a request body."""

    JSON = "application/json"
    IMAGE = "multipart/form-data"
    CSV = "text/csv"
    ANY = "any"


class EdgeRules(TypedDict, total=False):
    """The rules that the edge applies to an endpoint, as its declaration names them; `Route` describes them."""

    quota: Quota
    idempotency: Idempotency
    media: Media
    body_bytes_max: int
    seconds_max: float
    shared: bool
    page: bool
    compressed: bool
    passes_token: bool
    deprecated_at: datetime | None
    sunset_at: datetime | None
    successor: str | None


@dataclass(frozen=True, slots=True)
class Route:
    """An endpoint at the edge. `seconds_max` is the longest tolerated silence of the service.

    `shared`: anonymous readers may share a response for a few seconds. `page`: a successful response is a page for
    browsers with its own content policy. `compressed`: responses hold no secret, so they may be compressed.
    `passes_token`: the service of an endpoint with credentials in the body reads a token.

    `parts`: the services that each respond with a part of one list, which the edge merges; `upstream` is one of them.
    A request that names a subject is sent to one after the other until a service has it: the others respond 404.
    """

    method: str
    path: str
    upstream: str
    quota: Quota = Quota.BY_CALLER
    idempotency: Idempotency = Idempotency.IGNORED
    media: Media = Media.JSON
    body_bytes_max: int = JSON_BYTES_MAX
    seconds_max: float = 30.0
    shared: bool = False
    page: bool = False
    compressed: bool = False
    guard: Guard = SIGNED_IN
    passes_token: bool = False
    parts: tuple[str, ...] = ()
    deprecated_at: datetime | None = None
    sunset_at: datetime | None = None
    successor: str | None = None
    access: Access = field(init=False)
    """The credentials that the edge checks before forwarding: OPEN for those that the service alone can check."""

    def __post_init__(self) -> None:
        is_open = self.guard.access in (Access.SIGNATURE, Access.SERVICE_KEY)
        object.__setattr__(self, "access", Access.OPEN if is_open else self.guard.access)

    @property
    def is_merged_list(self) -> bool:
        """Return whether the edge merges the parts of all services: a list, not an operation on one subject."""
        return bool(self.parts) and self.method == "GET" and ":" not in self.path

    @property
    def name(self) -> str:
        """Method and template, the label in metrics and traces."""
        return f"{self.method} {self.path}"


# What a line shows besides its columns, in this order.
_FURTHER: Final = tuple(
    rule
    for rule in fields(Route)
    if rule.name in EdgeRules.__annotations__ and rule.name not in ("quota", "idempotency")
)


def template_of(path: str) -> str:
    """Return a path of a service as the table writes it."""
    return _PARAMETER.sub(":id", path).replace("{month}", ":month")


def read_routes() -> tuple[Route, ...]:
    """Return the routes of the committed table."""
    return tuple(_routes_in(_TABLE.read_text().splitlines()))


def head() -> list[str]:
    """Return the first lines of the table, for its readers."""
    return [
        "# Written by `make documents` from the declarations of the services; read by the gateway when it starts.",
        f"# {_padded(COLUMNS).strip()} further rules of the edge",
    ]


def line_of(route: Route, operation_id: str, statuses: Iterable[int]) -> str:
    """Return the line of a route."""
    guard = route.guard
    columns = (
        route.method,
        route.path,
        ",".join(route.parts or (route.upstream,)),
        ("|".join(guard.permissions) or "signed_in") if guard.access is Access.TOKEN else guard.access.value,
        "aal2" if guard.step_up else f"aal2:{guard.step_up_with}" if guard.step_up_with else "-",
        route.idempotency.value,
        route.quota.name.lower(),
        operation_id,
        ",".join(map(str, sorted(statuses))),
    )
    return " ".join([_padded(columns), *_further(route)])


def route_of(line: str) -> Route:
    """Return the route of a line."""
    method, path, services, who, aal2, idempotency, quota, _, _, *further = line.split()
    parts = tuple(services.split(","))
    rules = dict(rule.partition("=")[::2] for rule in further)
    return Route(
        method,
        path,
        parts[0],
        quota=Quota[quota.upper()],
        idempotency=Idempotency(idempotency),
        guard=_guard_of(who, aal2, rules.pop("keys", "")),
        parts=parts if len(parts) > 1 else (),
        **{name: _PARSED.get(name, _as_flag)(value) for name, value in rules.items()},
    )


def _padded(columns: Iterable[str]) -> str:
    return " ".join(f"{column:<{width}}" for column, width in zip(columns, _WIDTHS, strict=True))


def _routes_in(lines: Iterable[str]) -> Iterator[Route]:
    return (route_of(line) for line in lines if line and not line.startswith("#"))


def _guard_of(who: str, aal2: str, keys: str) -> Guard:
    guard = _guard_for_users(who, aal2)
    return guard.for_keys(*keys.split("|")) if keys else guard


def _guard_for_users(who: str, aal2: str) -> Guard:
    step_up, step_up_with = aal2 == "aal2", aal2.partition(":")[2] or None
    if who == "signed_in":
        return Guard(step_up=step_up)
    if ":" not in who:
        return Guard(Access(who))
    permissions = tuple(who.split("|"))
    if len(permissions) == 1:
        return Guard(permission=permissions[0], step_up=step_up, step_up_with=step_up_with)
    return Guard(one_of=permissions, step_up=step_up, step_up_with=step_up_with)


def _further(route: Route) -> Iterator[str]:
    if route.guard.key_scopes:
        yield f"keys={'|'.join(route.guard.key_scopes)}"
    for rule in _FURTHER:
        value = getattr(route, rule.name)
        if value != rule.default:
            yield rule.name if value is True else f"{rule.name}={_shown(value)}"


def _shown(value: Any) -> str:
    if isinstance(value, Media):
        return value.name.lower()
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _as_flag(value: str) -> bool:
    return not value


_PARSED: Final[Mapping[str, Any]] = {
    "media": lambda name: Media[name.upper()],
    "body_bytes_max": int,
    "seconds_max": float,
    "deprecated_at": datetime.fromisoformat,
    "sunset_at": datetime.fromisoformat,
    "successor": str,
}
