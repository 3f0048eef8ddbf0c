"""The OpenAPI document of the JSON API, and its page."""

import inspect
import json
import re
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from sandbox.control.operations import OPERATIONS, PREFIX, Operation
from sandbox.pages import render
from sandbox.web import JsonResponse
from sandbox.world import world_of

_PARAMETER: Final = re.compile(r"\{(\w+)\}")
_ERROR: Final = {
    "description": "An error: what is wrong with the request.",
    "content": {
        "application/json": {
            "schema": {
                "type": "object",
                "required": ["status", "message"],
                "properties": {"status": {"type": "boolean", "const": False}, "message": {"type": "string"}},
            }
        }
    },
}


async def show_document(request: Request) -> Response:
    """`GET /openapi.json`."""
    return JsonResponse(document(world_of(request).settings.base_url))


async def show_api(request: Request) -> Response:
    """Return the same as a page, with an example call of each operation."""
    tags: dict[str, list[dict[str, Any]]] = {}
    base_url = world_of(request).settings.base_url
    for operation in OPERATIONS:
        tags.setdefault(operation.tag, []).append(
            {
                "method": operation.method,
                "path": PREFIX + operation.path,
                "summary": operation.summary,
                "description": _meaning(operation).replace("`", ""),
                "query": {name: meaning.replace("`", "") for name, meaning in operation.query.items()},
                "example": _example_call(operation, base_url),
                "response": None if operation.response is None else json.dumps(operation.response, indent=2),
            }
        )
    return render("api.html", current="/api", tags=tags)


def document(base_url: str) -> dict[str, Any]:
    """Return the OpenAPI document."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(PREFIX + operation.path, {})[operation.method.lower()] = _described(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Sandbox",
            "version": "1",
            "description": (
                "What the companies around the marketplace do next, for development and tests. Amounts are kobo."
            ),
        },
        "servers": [{"url": base_url}],
        "tags": [{"name": tag} for tag in dict.fromkeys(operation.tag for operation in OPERATIONS)],
        "paths": paths,
    }


def _described(operation: Operation) -> dict[str, Any]:
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", **_values(name, operation)}}
        for name in _PARAMETER.findall(operation.path)
    ]
    in_query = [
        {"name": name, "in": "query", "description": meaning, "schema": {"type": "string"}}
        for name, meaning in operation.query.items()
    ]
    response: dict[str, Any] = {"description": "Done."}
    if operation.status != 204:
        response["content"] = {"application/json": {"schema": {}} | _example(operation.response)}
    described: dict[str, Any] = {
        "operationId": operation.handler.__name__,
        "tags": [operation.tag],
        "summary": operation.summary,
        "description": _meaning(operation),
        "parameters": [*in_path, *in_query],
        "responses": {str(operation.status): response, "default": _ERROR},
    }
    if operation.body is not None:
        described["requestBody"] = {
            "content": {"application/json": {"schema": {"type": "object"}} | _example(operation.body)}
        }
    return described


def _values(name: str, operation: Operation) -> dict[str, Any]:
    return {"enum": list(operation.acts)} if name == "act" else {}


def _example(value: Any) -> dict[str, Any]:
    return {} if value is None else {"example": value}


def _meaning(operation: Operation) -> str:
    """Return the handler's docstring as one paragraph."""
    return " ".join((inspect.getdoc(operation.handler) or "").split())


def _example_call(operation: Operation, base_url: str) -> str | None:
    """Return a call with curl, for operations that take a body."""
    if operation.body is None:
        return None
    path = operation.path.replace("{act}", operation.acts[0] if operation.acts else "")
    method = "" if operation.method == "POST" else f"-X {operation.method} "
    return f"curl {method}'{base_url}{PREFIX}{path}' --json '{json.dumps(operation.body)}'"
