"""A call of an operation, as a value: what is sent, how the response is read, and when it may be repeated."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import cache
from typing import Any, Final, Generic, TypedDict, TypeVar
from urllib.parse import quote
from uuid import UUID, uuid4

import httpx
from pydantic import BaseModel, TypeAdapter

T = TypeVar("T")
Item = TypeVar("Item")
Meta = TypeVar("Meta")

# The gateway restarts, an upstream service is unreachable, or an upstream service did not respond in time.
_UNAVAILABLE: Final = frozenset({502, 503, 504})
_TOO_MANY: Final = 429
TRANSIENT: Final = _UNAVAILABLE | {_TOO_MANY}
_CONFLICT: Final = 409
# PUT and DELETE have one effect however often they arrive, unless `If-Match` makes the second one stale.
_IDEMPOTENT: Final = frozenset({"GET", "PUT", "DELETE"})


class Options(TypedDict, total=False):
    """Options of every method.

    `timeout`: seconds of an attempt in which no byte arrives. `retries`: further attempts. `headers`: further headers.
    """

    timeout: float
    retries: int
    headers: Mapping[str, str]


class IdempotentOptions(Options, total=False):
    """Options of a method with an idempotency key: one of the caller's own, for a repetition of an earlier call."""

    idempotency_key: UUID


def key_of(options: IdempotentOptions) -> UUID:
    """Return the caller's idempotency key, or a new one."""
    return options.get("idempotency_key") or uuid4()


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One call; its attempts differ in the access token only. `key`: its idempotency key.

    `is_idempotent`: repeatable without a key, whatever its method. `authenticated` False: without a token. `reads`
    returns the result of a successful response.
    """

    method: str
    path: str
    reads: Callable[[httpx.Response], T]
    options: Options
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str | None] = field(default_factory=dict)
    content: bytes | None = None
    content_type: str | None = None
    key: UUID | None = None
    authenticated: bool = True
    is_idempotent: bool = False

    def sent_headers(self) -> dict[str, str]:
        """All headers but the access token."""
        headers = {name: value for name, value in self.headers.items() if value is not None}
        if self.content_type is not None:
            headers["Content-Type"] = self.content_type
        if self.key is not None:
            headers["Idempotency-Key"] = str(self.key)
        return headers | dict(self.options.get("headers", {}))

    def sent_query(self) -> dict[str, Any]:
        """Return the parameters with a value: times in UTC, truth values in lower case."""
        return {name: _written(value) for name, value in self.query.items() if value is not None}

    def with_query(self, **parameters: Any) -> "Call[T]":
        """Return the same call with other parameters."""
        return replace(self, query={**self.query, **parameters})

    def with_header(self, name: str, value: str | None) -> "Call[T]":
        """Return the same call with another header."""
        return replace(self, headers={**self.headers, name: value})

    @property
    def is_repeatable(self) -> bool:
        """Return whether a second attempt is safe although the first one may have taken effect."""
        return (
            self.is_idempotent
            or self.key is not None
            or (self.method in _IDEMPOTENT and self.headers.get("If-Match") is None)
        )

    def may_repeat_after(self, response: httpx.Response) -> bool:
        """Return whether another attempt may have another result. The gateway counts a 429 and does not forward it."""
        status = response.status_code
        if status == _CONFLICT:
            # An earlier attempt with the same key is still in progress.
            return self.key is not None and "Retry-After" in response.headers
        return status == _TOO_MANY or (status in _UNAVAILABLE and self.is_repeatable)


def path_of(template: str, **parts: object) -> str:
    """Return the path with each part escaped."""
    return template.format_map({name: quote(str(part), safe="") for name, part in parts.items()})


class JsonBody(TypedDict, total=False):
    """The two fields of a call with a JSON body."""

    content: bytes
    content_type: str


def json_body(body: BaseModel | None) -> JsonBody:
    """Return the JSON of a request; fields that were not set are left out, so that the server's defaults apply."""
    if body is None:
        return {}
    encoded = body.model_dump_json(by_alias=True, exclude_unset=True).encode()
    return {"content": encoded, "content_type": "application/json"}


def request_call(
    method: str, path: str, query: Mapping[str, Any], body: Any, options: IdempotentOptions
) -> Call[httpx.Response]:
    """Return a call of any path with a JSON body, None for none."""
    content = None if body is None else json.dumps(body).encode()
    content_type = None if body is None else "application/json"
    key = options.get("idempotency_key")
    return Call(method, path, unread, options, query, content=content, content_type=content_type, key=key)


def revision_header(revision: int | None) -> str | None:
    """Return the value of `If-Match`."""
    return None if revision is None else f'"{revision}"'


def data(shape: type[T]) -> Callable[[httpx.Response], T]:
    """Read the `data` of an envelope."""
    return lambda response: _adapter(shape).validate_python(response.json()["data"])


def page(item: type[Item], meta: type[Meta]) -> Callable[[httpx.Response], tuple[list[Item], Meta]]:
    """Read the items of a page and its `meta`."""

    def read(response: httpx.Response) -> tuple[list[Item], Meta]:
        envelope = response.json()
        items: list[Item] = _adapter(list[item]).validate_python(envelope["data"])  # type: ignore[valid-type]
        return items, _adapter(meta).validate_python(envelope["meta"])

    return read


def events(shape: Any) -> Callable[[httpx.Response], Callable[[str], Any]]:
    """Read the data of the server-sent events of a stream; `shape` may be a union."""
    return lambda _response: _adapter(shape).validate_json


def document(shape: type[T]) -> Callable[[httpx.Response], T]:
    """Read JSON without an envelope."""
    return lambda response: _adapter(shape).validate_json(response.content)


def raw_data(response: httpx.Response) -> Any:
    """Read `data` without a documented form."""
    return response.json()["data"]


def json_document(response: httpx.Response) -> Any:
    """Read JSON without an envelope."""
    return response.json()


def text(response: httpx.Response) -> str:
    """Read a text."""
    return response.text


def content(response: httpx.Response) -> bytes:
    """Read bytes."""
    return response.content


def nothing(_response: httpx.Response) -> None:
    """Read an empty response."""


def unread(response: httpx.Response) -> httpx.Response:
    """Return the response itself."""
    return response


def _adapter(shape: Any) -> TypeAdapter[Any]:
    return _built(shape)


@cache
def _built(shape: Any) -> TypeAdapter[Any]:
    return TypeAdapter(shape)


def _written(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, date | UUID):
        return str(value)
    return value
