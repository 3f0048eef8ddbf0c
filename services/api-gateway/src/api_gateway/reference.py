"""The merged API reference: the public routes of the table, as the services describe them (contract section 13)."""

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec

from api_gateway.connection import UpstreamFailed
from api_gateway.forwarding import read_answer
from api_gateway.routing import Access, Idempotency, Route
from api_gateway.upstream import Upstreams
from common.clock import Clock

KEEP_SECONDS: Final = 60
_FETCH_SECONDS_MAX: Final = 5.0
# A month is called one; everything else in a path is an id.
_PARAMETER: Final = re.compile(r"\{(?!month\})[^}]+\}")
_REFERENCE_PREFIX: Final = "#/components/schemas/"

_PROBLEM_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "description": "Problem details (RFC 7807).",
    "required": ["type", "title", "status", "detail", "instance", "code", "invalid_params"],
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {"type": "string"},
        "code": {"type": "string"},
        "invalid_params": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "reason": {"type": "string"}},
            },
        },
        "requestId": {"type": "string"},
        "correlationId": {"type": "string"},
    },
}
_PROBLEM_ANSWER: Final[dict[str, Any]] = {
    "description": "Any refusal or failure.",
    "content": {"application/problem+json": {"schema": {"$ref": f"{_REFERENCE_PREFIX}Problem"}}},
}


class ReferenceAway(Exception):
    """A service's part cannot be had, and there is no earlier document."""


class Reference:
    """The document, put together again each minute. While a service is away the last whole one is shown."""

    def __init__(self, routes: Iterable[Route], upstreams: Upstreams, clock: Clock, base_url: str) -> None:
        self._routes, self._upstreams, self._clock, self._base_url = tuple(routes), upstreams, clock, base_url
        self._document: bytes | None = None
        self._built_at = 0.0
        self._building = asyncio.Lock()

    async def document(self) -> bytes:
        """OpenAPI 3.1 as JSON; raises ReferenceAway."""
        async with self._building:
            now = self._clock.now().timestamp()
            if self._document is None or now - self._built_at >= KEEP_SECONDS:
                await self._rebuild(now)
        if self._document is None:
            raise ReferenceAway
        return self._document

    async def _rebuild(self, now: float) -> None:
        names = sorted({route.upstream for route in self._routes})
        parts = await asyncio.gather(*(self._fetch(name) for name in names), return_exceptions=True)
        documents: dict[str, Mapping[str, Any]] = {}
        for name, part in zip(names, parts, strict=True):
            if isinstance(part, Exception):
                return
            if isinstance(part, BaseException):
                raise part
            documents[name] = part
        self._document = msgspec.json.encode(merge(self._routes, documents, self._base_url))
        self._built_at = now

    async def _fetch(self, name: str) -> Mapping[str, Any]:
        upstream = self._upstreams[name]
        head = b"GET /openapi.json HTTP/1.1\r\nhost: %b\r\naccept: application/json\r\n\r\n" % upstream.host_header
        answer = await upstream.ask(head, b"", seconds_max=_FETCH_SECONDS_MAX, may_repeat=True)
        try:
            body = await read_answer(answer)
        finally:
            answer.release()
        if answer.status != 200:
            raise UpstreamFailed(f"/openapi.json of {name} answered {answer.status}")
        document: Mapping[str, Any] = msgspec.json.decode(body)
        return document


def merge(routes: Iterable[Route], documents: Mapping[str, Mapping[str, Any]], base_url: str) -> dict[str, Any]:
    """One document of the table's routes; schemas carry the name of their service, so that two services never collide."""
    paths: dict[str, dict[str, Any]] = {}
    schemas: dict[str, Any] = {"Problem": _PROBLEM_SCHEMA}
    described: dict[tuple[str, str, str], tuple[str, Any]] = {}
    for service, document in documents.items():
        rename = _renamer(service)
        for name, schema in document.get("components", {}).get("schemas", {}).items():
            schemas[rename(name)] = _with_renamed_references(schema, rename)
        for path, operations in document.get("paths", {}).items():
            for method, operation in operations.items():
                key = (service, method.upper(), _PARAMETER.sub(":id", path).replace("{month}", ":month"))
                described[key] = (path, _with_renamed_references(operation, rename))
    for route in routes:
        found = described.get((route.upstream, route.method, route.path))
        if found is not None:
            path, operation = found
            paths.setdefault(path, {})[route.method.lower()] = _public(route, operation)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Campus Marketplace API", "version": "v1"},
        "servers": [{"url": base_url}],
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
                "service_key": {"type": "http", "scheme": "bearer", "description": "SERVICE_ROLE_KEY"},
            },
        },
    }


def _is_ours(status: str, answer: Mapping[str, Any]) -> bool:
    """FastAPI documents a 422 of its own shape, which nobody here ever sends."""
    return status != "422" or "application/problem+json" in answer.get("content", {})


def _public(route: Route, operation: Mapping[str, Any]) -> dict[str, Any]:
    """The operation with what the gateway adds: who may call, the idempotency key, problems, deprecation."""
    shown = dict(operation)
    shown["tags"] = [route.upstream]
    shown["responses"] = {
        **{status: answer for status, answer in operation.get("responses", {}).items() if _is_ours(status, answer)},
        "default": _PROBLEM_ANSWER,
    }
    if route.access is Access.TOKEN:
        shown["security"] = [{"bearer": []}]
    elif route.access is Access.ANONYMOUS:
        shown["security"] = [{}, {"bearer": []}]
    if route.idempotency is not Idempotency.IGNORED:
        own = [entry for entry in operation.get("parameters", []) if entry.get("name", "").lower() != "idempotency-key"]
        key = {
            "name": "Idempotency-Key",
            "in": "header",
            "required": route.idempotency is Idempotency.REQUIRED,
            "schema": {"type": "string", "format": "uuid"},
            "description": "A UUID v4, new for each operation.",
        }
        shown["parameters"] = [*own, key]
    if route.deprecated_at is not None:
        shown["deprecated"] = True
    return shown


def _renamer(service: str) -> Callable[[str], str]:
    prefix = service.capitalize()
    return lambda name: f"{prefix}{name}"


def _with_renamed_references(value: Any, rename: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {
            name: _REFERENCE_PREFIX + rename(inner.removeprefix(_REFERENCE_PREFIX))
            if name == "$ref" and isinstance(inner, str)
            else _with_renamed_references(inner, rename)
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [_with_renamed_references(inner, rename) for inner in value]
    return value
