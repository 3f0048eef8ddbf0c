"""The typed Python client of `clients/python`, generated from the OpenAPI document.

Generated: the models, and each resource with its operations, once blocking and once asynchronous. Hand-written:
everything below a call. Methods return the `data` of the envelope `{success, data, meta}`; lists return pages.
"""

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from campus_tools.documents.python_models import fields_of, in_order, model_name, model_source, reach, type_of
from common.web.endpoints import AUDIENCE

_ENVELOPE: Final = {"success", "data", "meta"}
_EMPTY_BODY: Final = "m.EmptyRequest"
_GENERATED: Final = "Generated from openapi.json by `make documents`; do not edit."
# Without `from __future__ import annotations`: to compile 1,200 texts takes longer than all else of the import.
_MODELS_HEAD: Final = f'''"""The models of requests and responses. {_GENERATED}"""

{{times}}from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from campus_client.model import RequestModel, ResponseModel

'''
_RESOURCES_HEAD: Final = f'''"""The resources, {{kind}}. {_GENERATED}"""

from __future__ import annotations

import builtins
from collections.abc import {{imported}}
{{times}}from typing import Any, Literal, Unpack
from uuid import UUID

from campus_client import calls, models as m
from campus_client.calls import Call, IdempotentOptions, Options
from campus_client.events import Event
from campus_client.pages import {{pages}}
from campus_client.resource import {{base}}
from campus_client.session import Session
from campus_client.uploads import Upload, multipart_of

'''


@dataclass(frozen=True, slots=True)
class _Form:
    """How the methods of one of the two clients are written."""

    kind: str
    prefix: str
    imported: str
    define: str
    wait: str
    pages: str
    stream: str


_BLOCKING: Final = _Form("blocking", "", "Callable, Generator", "def", "", "Page", "Generator[Event[{}], None, None]")
_ASYNCHRONOUS: Final = _Form(
    "asynchronous", "Async", "AsyncGenerator, Callable", "async def", "await ", "AsyncPages",
    "AsyncGenerator[Event[{}], None]"
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Result:
    """The type of an operation's result, and the expression that reads it. `kind`: call, list or follow."""

    shape: str
    reads: str
    kind: str = "call"


@dataclass(frozen=True, slots=True)
class _Operation:
    """An operation of the document. `resource` and `name` are the two parts of its id, in Python's spelling."""

    resource: str
    name: str
    verb: str
    path: str
    content: Mapping[str, Any]

    @property
    def parameters(self) -> list[dict[str, Any]]:
        return list(self.content.get("parameters", []))

    @property
    def has_key(self) -> bool:
        return any(entry["name"] == "Idempotency-Key" for entry in self.parameters)


def files(document: dict[str, Any]) -> dict[str, str]:
    """Return the generated modules by their name below the package."""
    operations = sorted(_operations(document), key=lambda one: (one.resource, one.name))
    blocking = _resources(document, operations, _BLOCKING)
    schemas = document["components"]["schemas"]
    needed = reach(schemas, set(re.findall(r"\bm\.(\w+)", blocking)))
    models = [model_source(name, schemas[name]) for name in in_order(schemas) if model_name(name) in needed]
    return {
        "models.py": formatted(_with_times(_MODELS_HEAD, "\n\n".join(models))),
        "resources.py": formatted(blocking),
        "async_resources.py": formatted(_resources(document, operations, _ASYNCHRONOUS)),
    }


def names_of(operation_id: str) -> tuple[str, str]:
    """`orders.verifyDelivery` → `("orders", "verify_delivery")`."""
    resource, _, name = operation_id.partition(".")
    return fields_of(resource), fields_of(name)


def _operations(document: dict[str, Any]) -> Iterator[_Operation]:
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if operation.get(AUDIENCE) != "protocol":
                yield _Operation(*names_of(operation["operationId"]), method.upper(), path, operation)


def _resources(document: dict[str, Any], operations: list[_Operation], form: _Form) -> str:
    """Return the module of one client: a class for each resource, and one with all of them."""
    classes, members = [], []
    for resource, of_resource in groupby(operations, key=lambda one: one.resource):
        name = form.prefix + "".join(word.capitalize() for word in resource.split("_"))
        methods = [_method(document, operation, form) for operation in of_resource]
        classes.append(f"class {name}({form.prefix}Resource):\n" + "\n".join(methods))
        members.append(f"        self.{resource} = {name}(session)")
    everything = (
        f'class {form.prefix}Resources:\n    """All resources. A method has the name of its operationId."""\n\n'
        "    def __init__(self, session: Session) -> None:\n" + "\n".join(members)
    )
    head = _RESOURCES_HEAD.replace("{kind}", form.kind).replace("{imported}", form.imported)
    head = head.replace("{pages}", form.pages).replace("{base}", f"{form.prefix}Resource")
    return _with_times(head, "\n\n\n".join([*classes, everything]))


def _with_times(head: str, body: str) -> str:
    """Join head and body; only used datetime types are imported."""
    times = [name for name in ("date", "datetime", "time") if re.search(rf"[:|\[] ?{name}\b", body)]
    return head.replace("{times}", f"from datetime import {', '.join(times)}\n" if times else "") + body


def _method(document: dict[str, Any], operation: _Operation, form: _Form) -> str:
    result = _result(document, operation)
    required, optional, sent = _arguments(operation)
    if result.kind == "follow":
        optional.append("on_open: Callable[[], None] | None = None")
    options = "IdempotentOptions" if operation.has_key else "Options"
    # Parameters of the query follow `*`.
    signature = ", ".join(["self", *required, *(["*", *optional] if optional else []), f"**options: Unpack[{options}]"])
    call = f"Call({', '.join([repr(operation.verb), _address(operation.path), result.reads, 'options', *sent])})"
    define, wait, returns = form.define, form.wait, result.shape
    if result.kind == "list":
        define, wait, returns = "def", "", f"{form.pages}[{result.shape}]"
    elif result.kind == "follow":
        define, wait, returns = "def", "", form.stream.format(result.shape)
        call += f", resumes={operation.verb == 'GET'}, on_open=on_open"
    prepare = "        content, content_type = multipart_of(file)\n" if "file: Upload" in required else ""
    return (
        f"    {define} {operation.name}({signature}) -> {returns}:\n        {_docstring(operation)}\n{prepare}"
        f"        return {wait}self._{result.kind}({call})\n"
    )


def _docstring(operation: _Operation) -> str:
    text = f"{operation.content['summary']}.\n\n{operation.content.get('description', '')}".strip()
    return '"""' + text.replace("\\", "\\\\").replace('"""', "'''").replace("\n", "\n        ") + '\n        """'


def _arguments(operation: _Operation) -> tuple[list[str], list[str], list[str]]:
    """Return the parameters by position, those by name, and the arguments of the call."""
    in_path = [one for one in operation.parameters if one["in"] == "path"]
    required = [f"{fields_of(one['name'])}: {_type(one['schema'])}" for one in in_path]
    optional: list[str] = []
    sent: list[str] = []
    body = operation.content.get("requestBody", {})
    content = body.get("content", {})
    if "multipart/form-data" in content:
        required.append("file: Upload")
        sent.append("content=content, content_type=content_type")
    elif "application/json" in content:
        kind = _type(content["application/json"]["schema"]).removesuffix(" | None")
        if kind != _EMPTY_BODY:
            required.append(f"body: {kind}" if body.get("required") else f"body: {kind} | None = None")
            sent.append("**calls.json_body(body)")
    for place, argument in (("query", "query"), ("header", "headers")):
        entries = [one for one in operation.parameters if one["in"] == place and one["name"] != "Idempotency-Key"]
        optional += [_parameter(one) for one in entries]
        if entries:
            pairs = ", ".join(f'"{one["name"]}": {_value(one)}' for one in entries)
            sent.append(f"{argument}={{{pairs}}}")
    if operation.has_key:
        sent.append("key=calls.key_of(options)")
    if operation.content["security"] == []:
        sent.append("authenticated=False")
    return required, optional, sent


def _parameter(parameter: dict[str, Any]) -> str:
    name, kind = fields_of(parameter["name"]), _type(parameter["schema"])
    if parameter["name"] == "If-Match":
        kind = "int"
    return f"{name}: {kind}" if parameter["required"] else f"{name}: {kind.removesuffix(' | None')} | None = None"


def _value(parameter: dict[str, Any]) -> str:
    name = fields_of(parameter["name"])
    return f"calls.revision_header({name})" if parameter["name"] == "If-Match" else name


def _type(schema: dict[str, Any]) -> str:
    """Return the annotation; a method `list` hides the type inside of its class."""
    return type_of(schema, "m.").replace("list[", "builtins.list[")


def _result(document: dict[str, Any], operation: _Operation) -> _Result:
    responses = operation.content["responses"]
    content = responses[min(status for status in responses if status.startswith("2"))].get("content", {})
    if not content:
        return _Result("None", "calls.nothing")
    media, shown = next(iter(content.items()))
    if media == "text/event-stream":
        schema = shown["schema"]
        named = document["components"]["schemas"].get(schema.get("$ref", "").rpartition("/")[2], schema)
        kinds = _type({"anyOf": named.get("anyOf", [schema])})
        return _Result(kinds, f"calls.events({kinds})", "follow")
    if media.startswith("text/"):
        return _Result("str", "calls.text")
    if media != "application/json":
        return _Result("bytes", "calls.content")
    schema = shown["schema"]
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    inside = schema.get("properties", {})
    if set(inside) != _ENVELOPE:
        kind = _type(shown["schema"])
        return _Result("Any", "calls.json_document") if kind == "Any" else _Result(kind, f"calls.document({kind})")
    return _opened(document, inside)


def _opened(document: dict[str, Any], inside: dict[str, Any]) -> _Result:
    """Return the result in an envelope."""
    kind, meta = _type(inside["data"]), _type(inside["meta"])
    if kind == "Any":
        return _Result("Any", "calls.raw_data")
    meta_fields = document["components"]["schemas"][inside["meta"]["$ref"].rpartition("/")[2]]["properties"]
    if kind.startswith("builtins.list[") and {"next_cursor", "total_pages"} & set(meta_fields):
        item = kind.removeprefix("builtins.list[").removesuffix("]")
        return _Result(f"{item}, {meta}", f"calls.page({item}, {meta})", "list")
    return _Result(kind, f"calls.data({kind})")


def _address(path: str) -> str:
    """Return the path as an expression, its parameters escaped."""
    parts = re.findall(r"\{(\w+)\}", path)
    if not parts:
        return f'"{path}"'
    return f'calls.path_of("{path}", {", ".join(f"{name}={fields_of(name)}" for name in parts)})'


def formatted(source: str) -> str:
    """Format code with the settings of `make format`."""
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", "120", "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
