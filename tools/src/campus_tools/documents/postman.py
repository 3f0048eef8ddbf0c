"""The collection for Postman (format 2.1)."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any, Final

from campus_tools.documents.requests_shown import Parameter, Request
from contracts.demo import USERS

_SCHEMA: Final = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
_VARIABLES: Final = (
    ("baseUrl", "http://localhost:8080"),
    ("email", USERS[0].email),
    *((name, "") for name in ("password", "code", "accessToken", "refreshToken", "serviceRoleKey")),
)
_KEEP_TOKEN: Final = (
    "const body = pm.response.json();",
    'for (const name of ["accessToken", "refreshToken"])',
    "  if (body.data && body.data[name]) pm.collectionVariables.set(name, body.data[name]);",
)


def collection(requests: Iterable[Request]) -> dict[str, Any]:
    """The collection: a folder for each tag. A login stores the token; requests with an idempotency key generate a new one."""
    return {
        "info": {
            "name": "Campus Marketplace API",
            "description": "Set `baseUrl`, `email` and `password`, send `auth / Log in`, and every other request carries the token. "
            "Who has a second factor sets `code` and sends `auth / Verify`. The demo accounts' password stands in `.state/secrets.env`.",
            "schema": _SCHEMA,
        },
        "variable": [{"key": key, "value": value, "type": "string"} for key, value in _VARIABLES],
        "auth": _bearer("accessToken"),
        "item": [
            {"name": folder, "item": [_item(request) for request in inner]}
            for folder, inner in groupby(requests, key=lambda request: request.folder)
        ],
    }


def _item(request: Request) -> dict[str, Any]:
    shown: dict[str, Any] = {"name": request.title, "request": _request(request), "response": []}
    if request.signs_in:
        shown["event"] = [{"listen": "test", "script": {"type": "text/javascript", "exec": list(_KEEP_TOKEN)}}]
    return shown


def _request(request: Request) -> dict[str, Any]:
    headers = [_pair(parameter) for parameter in request.in_headers]
    if request.key is not None:
        headers.append({"key": "Idempotency-Key", "value": "{{$guid}}", "description": "New for each request."})
    shown: dict[str, Any] = {
        "method": request.method,
        "header": headers,
        "url": _url(request),
        "description": request.meaning,
        "auth": {"type": "noauth"} if request.secret is None else _bearer(request.secret),
    }
    if request.json_body is not None:
        headers.append({"key": "Content-Type", "value": "application/json"})
        shown["body"] = {"mode": "raw", "raw": request.json_body, "options": {"raw": {"language": "json"}}}
    elif request.has_file:
        shown["body"] = {"mode": "formdata", "formdata": [{"key": "file", "type": "file", "src": []}]}
    return shown


def _url(request: Request) -> dict[str, Any]:
    path = [f":{part[1:-1]}" if part.startswith("{") else part for part in request.path.strip("/").split("/")]
    url: dict[str, Any] = {"raw": "{{baseUrl}}/" + "/".join(path), "host": ["{{baseUrl}}"], "path": path}
    if request.in_query:
        url["query"] = [_pair(parameter) for parameter in request.in_query]
    if request.in_path:
        url["variable"] = [{"key": parameter.name, "value": parameter.value} for parameter in request.in_path]
    return url


def _pair(parameter: Parameter) -> Mapping[str, Any]:
    shown: dict[str, Any] = {"key": parameter.name, "value": parameter.value}
    if not parameter.is_required:
        shown["disabled"] = True
    if parameter.meaning:
        shown["description"] = parameter.meaning
    return shown


def _bearer(variable: str) -> dict[str, Any]:
    return {"type": "bearer", "bearer": [{"key": "token", "value": "{{" + variable + "}}", "type": "string"}]}
