"""The operations of the OpenAPI document as ready requests, for the Postman collection."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

# Examples hold no credentials: users or earlier responses fill these variables of the collection.
_FILLED_IN: Final[Mapping[str, tuple[str, ...]]] = {
    "/api/auth/login": ("email", "password"),
    "/api/auth/mfa/verify": ("code",),
    "/api/auth/refresh": ("refreshToken",),
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter with its example. An optional one is disabled in the collection."""

    name: str
    value: str
    is_required: bool
    meaning: str


@dataclass(frozen=True, slots=True)
class Request:
    """One operation with its examples. `signs_in`: its response holds tokens."""

    name: str
    title: str
    meaning: str
    folder: str
    method: str
    path: str
    in_path: tuple[Parameter, ...]
    in_query: tuple[Parameter, ...]
    in_headers: tuple[Parameter, ...]
    key: bool | None
    json_body: str | None
    has_file: bool
    secret: str | None
    signs_in: bool


def requests_of(reference: Mapping[str, Any]) -> Iterator[Request]:
    """Every operation, by tag in the document's order, then by path."""
    order = [tag["name"] for tag in reference["tags"]]
    found = [
        _request(method, path, operation)
        for path, operations in reference["paths"].items()
        for method, operation in operations.items()
    ]
    yield from sorted(found, key=lambda request: (order.index(request.folder), request.path, request.method))


def _request(method: str, path: str, operation: Mapping[str, Any]) -> Request:
    parameters = operation.get("parameters", [])
    key = [entry["required"] for entry in parameters if entry["name"] == "Idempotency-Key"]
    content = operation.get("requestBody", {}).get("content", {})
    body = content.get("application/json", {}).get("example")
    if filled_in := _FILLED_IN.get(path):
        body = {**body, **{name: "{{" + name + "}}" for name in filled_in}}
    return Request(
        name=operation["operationId"],
        title=operation["summary"],
        meaning=operation.get("description", ""),
        folder=operation["tags"][0],
        method=method.upper(),
        path=path,
        in_path=tuple(_parameters(parameters, "path")),
        in_query=tuple(_parameters(parameters, "query")),
        in_headers=tuple(entry for entry in _parameters(parameters, "header") if entry.name != "Idempotency-Key"),
        key=key[0] if key else None,
        json_body=None if body is None else json.dumps(body, indent=2, ensure_ascii=False),
        has_file="multipart/form-data" in content,
        secret=_secret(operation["security"]),
        signs_in=_returns_token(operation),
    )


def _parameters(parameters: list[Mapping[str, Any]], place: str) -> Iterator[Parameter]:
    for entry in parameters:
        if entry["in"] == place:
            value = entry.get("example", "")
            shown = value if isinstance(value, str) else json.dumps(value)
            yield Parameter(entry["name"], shown, entry.get("required", False), entry.get("description", ""))


def _secret(security: list[Mapping[str, Any]]) -> str | None:
    """Return the variable of its credential, also of an optional token; None for public or signed operations."""
    names = {name for requirement in security for name in requirement}
    return "accessToken" if "bearer" in names else "serviceRoleKey" if "serviceKey" in names else None


def _returns_token(operation: Mapping[str, Any]) -> bool:
    shown = operation["responses"].get("200", {}).get("content", {}).get("application/json", {}).get("example", {})
    data = shown.get("data") if isinstance(shown, dict) else None
    return isinstance(data, dict) and "accessToken" in data
