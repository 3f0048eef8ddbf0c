"""The typed Python client of `clients/python`, generated from the OpenAPI document.

Generated: models, one method for each operation, one error for each code. Hand-written: connection, tokens, pages.
Methods return the `data` of the envelope `{success, data, meta}`; lists return a page.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, Final

from campus_tools.documents.python_models import fields_of, model_name, model_source, reach, type_of

_ENVELOPE: Final = {"success", "data", "meta"}
_METHOD_HEAD: Final = (
    '"""One method for each operation. Generated from openapi.json by `make documents`; do not edit."""\n'
)
_MODELS_HEAD: Final = (
    '"""What requests and answers hold. Generated from openapi.json by `make documents`; do not edit."""\n'
)
_ERRORS_HEAD: Final = '"""One error for each code. Generated from openapi.json by `make documents`; do not edit."""\n'
# Webhooks of providers and the gateway's health are not part of the client.
_NOT_FOR_CLIENTS: Final = ("/health/", "/api/messaging/webhook")
_OPENED_BY: Final[tuple[dict[str, list[str]], ...]] = ({}, {"bearer": []}, {"serviceKey": []})


def files(document: dict[str, Any]) -> dict[str, str]:
    """The generated modules by their name below the package."""
    methods = [_method(document, *found) for found in _operations(document)]
    schemas = document["components"]["schemas"]
    needed = reach(schemas, {name for method in methods for name in re.findall(r"\bm\.(\w+)", method)})
    models = [model_source(name, schemas[name]) for name in sorted(schemas) if model_name(name) in needed]
    return {
        "models.py": _formatted(_MODELS_HEAD + _imported(_MODEL_IMPORTS, models)),
        "operations.py": _formatted(_METHOD_HEAD + _imported(_METHOD_IMPORTS, methods)),
        "errors.py": _formatted(_ERRORS_HEAD + _errors(schemas["ProblemCode"]["enum"])),
    }


_MODEL_IMPORTS: Final = """
from __future__ import annotations

{times}from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from campus_client.model import Answer, Request

"""

_METHOD_IMPORTS: Final = """
from __future__ import annotations

from collections.abc import AsyncIterator
{times}from typing import Any, Literal
from uuid import UUID

from campus_client import models as m
from campus_client.answers import Page, read, read_page
from campus_client.connection import Connection
from campus_client.events import ServerSentEvent


class Operations(Connection):
    \"\"\"The whole interface, one method for each operation; the names are method and path.\"\"\"

"""


def _imported(head: str, parts: list[str]) -> str:
    """Join the parts below their imports; only used datetime types are imported."""
    body = "\n\n".join(parts)
    times = [name for name in ("date", "datetime", "time") if re.search(rf"[:|\[] ?{name}\b", body)]
    return head.replace("{times}", f"from datetime import {', '.join(times)}\n" if times else "") + body


def _operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if all(way in _OPENED_BY for way in operation["security"]) and not path.startswith(_NOT_FOR_CLIENTS):
                yield method.upper(), path, operation


def method_name(verb: str, path: str) -> str:
    """Return a stable name from method and path, such as `get_orders_by_id`."""
    parts = [part for part in path.split("/") if part not in ("", "api")]
    words = [
        "by_id" if part != "{month}" and part.startswith("{") else f"by_{part[1:-1]}" if part.startswith("{") else part
        for part in parts
    ]
    return "_".join([verb.lower(), *(re.sub(r"[^a-z0-9]+", "_", word.lower()).strip("_") for word in words)])


def _method(document: dict[str, Any], verb: str, path: str, operation: dict[str, Any]) -> str:
    parameters = operation.get("parameters", [])
    named = [*_path_arguments(parameters), *_body_argument(operation)]
    loose = _loose_arguments(parameters)
    signature = ", ".join(["self", *named, *(["*", *loose] if loose else [])])
    returns, reading = _result(document, operation)
    call = ", ".join([f'"{verb}"', _address(path), *_sent(operation, parameters)])
    text = f"{operation['summary']}.\n\n{operation.get('description', '')}".strip()
    docstring = '"""' + text.replace("\\", "\\\\").replace('"""', "'''").replace("\n", "\n        ") + '\n        """'
    if returns == "AsyncIterator[ServerSentEvent]":
        return (
            f"    def {method_name(verb, path)}({signature}) -> {returns}:\n        {docstring}\n"
            f"        return self.follow({call})\n"
        )
    return (
        f"    async def {method_name(verb, path)}({signature}) -> {returns}:\n        {docstring}\n"
        f"        {reading.format(call=f'await self.send({call})')}\n"
    )


def _path_arguments(parameters: list[dict[str, Any]]) -> list[str]:
    return [f"{_name(one['name'])}: {type_of(one['schema'], 'm.')}" for one in parameters if one["in"] == "path"]


def _body_argument(operation: dict[str, Any]) -> list[str]:
    content = operation.get("requestBody", {}).get("content", {})
    if "multipart/form-data" in content:
        return ["file: bytes", "media_type: str"]
    if "application/json" not in content:
        return []
    kind = type_of(content["application/json"]["schema"], "m.")
    return [f"body: {kind} = None" if kind.endswith("| None") else f"body: {kind}"]


def _loose_arguments(parameters: list[dict[str, Any]]) -> list[str]:
    loose = []
    for one in parameters:
        if one["in"] == "path":
            continue
        kind = "UUID | None" if one["name"] == "Idempotency-Key" else type_of(one["schema"], "m.")
        if one["required"] and one["name"] != "Idempotency-Key":
            loose.append(f"{_name(one['name'])}: {kind}")
        else:
            loose.append(f"{_name(one['name'])}: {kind.removesuffix(' | None')} | None = None")
    return loose


def _sent(operation: dict[str, Any], parameters: list[dict[str, Any]]) -> list[str]:
    """The arguments of the call below the method."""
    sent = []
    for place, argument in (("query", "query"), ("header", "headers")):
        pairs = [
            f'"{one["name"]}": {_name(one["name"])}'
            for one in parameters
            if one["in"] == place and one["name"] != "Idempotency-Key"
        ]
        if pairs:
            sent.append(f"{argument}={{{', '.join(pairs)}}}")
    if any(one["name"] == "Idempotency-Key" for one in parameters):
        sent += ["keyed=True", "key=idempotency_key"]
    content = operation.get("requestBody", {}).get("content", {})
    if "multipart/form-data" in content:
        sent.append("file=(file, media_type)")
    elif "application/json" in content:
        sent.append("body=body")
    if operation["security"] == []:
        sent.append("signed=False")
    return sent


def _result(document: dict[str, Any], operation: dict[str, Any]) -> tuple[str, str]:
    """Return a method's return type and the statement that converts the `{call}`."""
    status = min(status for status in operation["responses"] if status.startswith("2"))
    content = operation["responses"][status].get("content", {})
    if not content:
        return "None", "{call}"
    media, shown = next(iter(content.items()))
    if media == "text/event-stream":
        return "AsyncIterator[ServerSentEvent]", ""
    if media.startswith("text/"):
        return "str", "return ({call}).text"
    if media != "application/json":
        return "bytes", "return ({call}).content"
    schema = shown["schema"]
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    inside = schema.get("properties", {})
    if set(inside) != _ENVELOPE:
        return "Any", "return ({call}).json()"
    return _opened(document, inside)


def _opened(document: dict[str, Any], inside: dict[str, Any]) -> tuple[str, str]:
    kind = type_of(inside["data"], "m.")
    meta = type_of(inside["meta"], "m.")
    meta_fields = document["components"]["schemas"][inside["meta"]["$ref"].rpartition("/")[2]]["properties"]
    if kind == "Any":
        return "Any", 'return ({call}).json()["data"]'
    if kind.startswith("list[") and {"next_cursor", "total"} & set(meta_fields):
        item = kind.removeprefix("list[").removesuffix("]")
        return f"Page[{item}, {meta}]", f"return read_page({{call}}, {item}, {meta})"
    return kind, f"return read({{call}}, {kind})"


def _address(path: str) -> str:
    """Return the path as an expression; the connection escapes its parameters."""
    parts = re.findall(r"\{(\w+)\}", path)
    if not parts:
        return f'"{path}"'
    return f'self.path("{path}", {", ".join(f"{name}={_name(name)}" for name in parts)})'


def _name(name: str) -> str:
    if name == "Idempotency-Key":
        return "idempotency_key"
    return fields_of(name)


def _errors(codes: list[str]) -> str:
    classes = [f'class {_error_name(code)}(Refused):\n    """The API responded with `{code}`."""\n' for code in codes]
    known = ", ".join(f'"{code}": {_error_name(code)}' for code in codes)
    return (
        "\nfrom typing import Final\n\nfrom campus_client.refused import Refused\n\n\n"
        + "\n\n".join(classes)
        + f"\n\nBY_CODE: Final[dict[str, type[Refused]]] = {{{known}}}\n"
    )


def _error_name(code: str) -> str:
    return "".join(word.capitalize() for word in code.split("_"))


def _formatted(source: str) -> str:
    """Format code with the settings of `make format`."""
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", "120", "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
