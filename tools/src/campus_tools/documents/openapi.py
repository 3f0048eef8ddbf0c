"""The merged OpenAPI 3.1 document: the services' public operations with the gateway's headers, errors and security."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from campus_tools.documents.described import Described, Drifted, described
from campus_tools.documents.edge_shown import envelope_of, health_envelopes, health_operations, shared_schemas
from campus_tools.documents.endpoints_shown import SECURITY_SCHEMES, security_of
from campus_tools.documents.error_responses import (
    BASE_URL,
    EVERYWHERE,
    HEADERS,
    errors_of,
    headers_shown,
)
from campus_tools.documents.requests import FILES, REQUESTS, SIGNED_BODIES
from campus_tools.documents.samples import Samples
from campus_tools.documents.schemas_shown import shown_parameter, shown_schema
from common.auth.guards import Guard
from common.web.endpoint_table import Idempotency, Route

_SCHEMAS: Final = "#/components/schemas/"
# Operations without an envelope (contract section 1.2).
_BARE: Final = frozenset({"/.well-known/jwks.json", "/mcp"})
_CONTEXTS: Final[Mapping[str, str]] = {
    "identity": "Identity and campus",
    "orders": "Catalog and orders",
    "payments": "Payments, escrow and ledger",
    "payouts": "Payouts",
    "notifications": "Notifications and support",
    "api-gateway": "The edge",
}
_DESCRIPTION: Final = """\
The backend of student marketplaces: escrow, delivery PIN, payouts.

- `/api/v1/...` and `/api/...` are the same. Fields are camelCase, times ISO 8601 UTC, ids UUIDs, and amounts ending in
  `Minor` integers in kobo.
- A success has the envelope `{success, data, meta}`. An error is `application/problem+json` with one of twelve codes,
  each with a page under [/errors](/errors).
- `Idempotency-Key`, a UUID v4, is required where documented and accepted on the other marked POSTs: the same request
  under the same key has one effect.
- Every response has `X-Request-Id` and the `RateLimit-*` headers. Changes are also published as [events](/events).
"""


def document() -> dict[str, Any]:
    """Return the whole document. Raises Drifted when services disagree."""
    entries, schemas = described()
    schemas |= shared_schemas() | health_envelopes()
    schemas = {name: shown_schema(name, schema) for name, schema in schemas.items()}
    samples = Samples(schemas)
    paths: dict[str, dict[str, Any]] = {}
    responses: dict[str, Any] = {}
    for entry in entries:
        shown = _operation(entry, schemas, samples, responses)
        paths.setdefault(entry.path, {})[entry.route.method.lower()] = shown
    paths |= health_operations(responses)
    whole: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "Campus Marketplace API",
            "version": "v1",
            "description": _DESCRIPTION,
            "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
            "contact": {"name": "Campus Marketplace, API support", "url": f"{BASE_URL}/docs"},
        },
        "servers": [{"url": BASE_URL, "description": "The gateway that served this document."}],
        "tags": _tags(entries),
        "x-tagGroups": _tag_groups(entries),
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": schemas,
            "responses": dict(sorted(responses.items())),
            "headers": dict(HEADERS),
            "securitySchemes": dict(SECURITY_SCHEMES),
        },
    }
    whole["components"]["schemas"] = _reached(whole, schemas)
    used = {name for entry in entries for requirement in security_of(entry) for name in requirement}
    whole["components"]["securitySchemes"] = {name: scheme for name, scheme in SECURITY_SCHEMES.items() if name in used}
    translated: dict[str, Any] = _in_the_words_of_json_schema(whole)
    return translated


def _operation(
    entry: Described, schemas: dict[str, Any], samples: Samples, responses: dict[str, Any]
) -> dict[str, Any]:
    route, operation = entry.route, entry.operation
    description = _described_with_guard(str(operation.get("description", "")), entry.guard)
    shown: dict[str, Any] = {
        "operationId": _operation_id(entry),
        "tags": list(operation.get("tags", [route.upstream])),
        "summary": _summary(str(operation["summary"])),
        **({"x-permissions": list(entry.guard.permissions)} if entry.guard.permissions else {}),
    }
    if description:
        shown["description"] = description
    parameters = [_parameter(parameter, samples) for parameter in operation.get("parameters", [])]
    parameters = [parameter for parameter in parameters if parameter["name"].lower() != "idempotency-key"]
    if route.idempotency is not Idempotency.IGNORED:
        parameters.append(_idempotency_key(route))
    if parameters:
        shown["parameters"] = parameters
    if "requestBody" in operation:
        shown["requestBody"] = _body(entry, operation["requestBody"], samples)
    elif route.name in SIGNED_BODIES:
        media, example = SIGNED_BODIES[route.name]
        shown["requestBody"] = {
            "required": True,
            "description": "Read as it comes: what is well signed is answered 200 whatever its shape.",
            "content": {media: {"schema": {"type": "object"}, "example": example}},
        }
    shown["responses"] = {**_successes(entry, schemas, samples), **errors_of(entry, responses)}
    if route.path in ("/functions/v1/gateway-webhook", "/api/webhooks/flutterwave"):
        shown["responses"]["401"] = _BARE_ERROR
    shown["security"] = security_of(entry)
    shown |= {name: value for name, value in operation.items() if name.startswith("x-")}
    shown |= _extensions_of(entry.guard)
    if route.deprecated_at is not None:
        shown["deprecated"] = True
    return shown


def _extensions_of(guard: Guard) -> dict[str, Any]:
    return {
        **({"x-permissions": list(guard.permissions)} if guard.permissions else {}),
        **({"x-step-up": True} if guard.step_up else {}),
        **({"x-key-scopes": list(guard.key_scopes)} if guard.key_scopes else {}),
    }


_BARE_ERROR: Final = {
    "description": "The signature is missing or wrong. The only error that is no problem document.",
    "headers": headers_shown(*EVERYWHERE),
    "content": {
        "application/json": {
            "schema": {
                "type": "object",
                "required": ["error"],
                "properties": {"error": {"type": "string", "const": "Invalid signature"}},
            },
            "example": {"error": "Invalid signature"},
        }
    },
}


def _operation_id(entry: Described) -> str:
    name = str(entry.operation["operationId"])
    if not re.fullmatch(r"[a-z][A-Za-z]*\.[a-z][A-Za-z]*", name):
        raise Drifted(f"{entry.route.name} needs an operation_id such as `orders.checkout`")
    return name


def _summary(name: str) -> str:
    words = name.removesuffix(" Route").split()
    return " ".join([words[0], *(word.lower() for word in words[1:])])


def _described_with_guard(description: str, guard: Guard) -> str:
    sentences = [description.strip()] if description.strip() else []
    if guard.permissions:
        sentences.append(f"Needs the permission {' or '.join(f'`{name}`' for name in guard.permissions)}.")
    if guard.key_scopes:
        sentences.append(f"An API key needs the scope {' or '.join(f'`{name}`' for name in guard.key_scopes)}.")
    if guard.step_up:
        sentences.append("Needs a second factor shown within the last 15 minutes (AAL2).")
    elif guard.step_up_with:
        sentences.append(
            f"Who holds `{guard.step_up_with}` needs a second factor shown within the last 15 minutes (AAL2)."
        )
    return "\n\n".join(sentences)


def _parameter(parameter: Mapping[str, Any], samples: Samples) -> dict[str, Any]:
    shown = shown_parameter(parameter)
    if shown["name"] == "If-Match":
        shown["example"] = '"3"'
    elif shown["name"] != "cursor":
        shown["example"] = samples.of_parameter(shown["name"], shown["schema"])
    return shown


_UUID_V4: Final = "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$"


def _idempotency_key(route: Route) -> dict[str, Any]:
    return {
        "name": "Idempotency-Key",
        "in": "header",
        "required": route.idempotency is Idempotency.REQUIRED,
        # Not `"format": "uuid"`: openapi-python-client gives httpx an object then, which is no header's value.
        "schema": {"type": "string", "pattern": _UUID_V4},
        "description": "A UUID v4, new for each operation; the same one again gets the same answer.",
        "example": "7d3c2b1a-4e5f-4a6b-8c7d-9e0f1a2b3c4d",
    }


def _body(entry: Described, body: Mapping[str, Any], samples: Samples) -> dict[str, Any]:
    content = {}
    for media, inner in body["content"].items():
        content[media] = dict(inner)
        if media == "application/json":
            example = REQUESTS.get(entry.route.name)
            schema = content[media]["schema"] = _present(inner.get("schema", {}))
            content[media]["example"] = samples.of(schema, whole=False) if example is None else example
        else:
            content[media]["example"] = samples.of(inner["schema"])
    return {**body, "content": content}


def _present(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an optional body: `null` is accepted too, and breaks that of openapi-python-client."""
    choices = [choice for choice in schema.get("anyOf", []) if choice != {"type": "null"}]
    return dict(choices[0]) if len(choices) == 1 else schema


def _successes(entry: Described, schemas: dict[str, Any], samples: Samples) -> dict[str, Any]:
    described = {
        status: response
        for status, response in entry.operation.get("responses", {}).items()
        if status.startswith(("2", "3"))
    }
    if "204" in described:
        described = {"204": described["204"]}
    shown = {}
    for status, response in described.items():
        names = [*EVERYWHERE]
        if entry.route.idempotency is not Idempotency.IGNORED:
            names.append("X-Cache-Lookup")
        shown[status] = {
            "description": response["description"]
            if "text/event-stream" in response.get("content", {})
            else _SUCCESSES.get(status, "Done."),
            "headers": {**response.get("headers", {}), **headers_shown(*names)},
        }
        content = {
            media: _content(entry, media, inner, schemas, samples)
            for media, inner in response.get("content", {}).items()
            if media == "application/json" or len(response["content"]) == 1 or inner.get("schema")
        }
        # FastAPI adds an empty JSON shape to the one that a file's route declares.
        if len(content) > 1 and not response["content"].get("application/json", {"schema": 1}).get("schema"):
            del content["application/json"]
        if content:
            shown[status]["content"] = content
    return shown


_SUCCESSES: Final[Mapping[str, str]] = {
    "200": "Done.",
    "201": "Created.",
    "202": "Accepted.",
    "204": "Done; there is no body.",
    "304": "The content of this ETag is still current.",
}


def _content(
    entry: Described, media: str, content: Mapping[str, Any], schemas: dict[str, Any], samples: Samples
) -> dict[str, Any]:
    schema = content.get("schema", {})
    if media.startswith("image/") or media == "application/pdf":
        return {"schema": {"type": "string", "format": "binary"}}
    if media == "text/event-stream":
        return {"schema": _stream_event(entry, schema, schemas)}
    if media != "application/json":
        example = FILES.get(entry.route.path)
        return {} if example is None else {"schema": {"type": "string"}, "example": example}
    if not schema:
        return {}
    if entry.route.path not in _BARE and not _is_envelope(schema, samples):
        schema = _envelope(entry, schema, schemas)
    return {"schema": schema, "example": samples.of(schema)}


def _stream_event(entry: Described, schema: Mapping[str, Any], schemas: dict[str, Any]) -> dict[str, str]:
    """Return a reference to the events of a stream: `notifications.stream` has `NotificationStreamEvent`."""
    operation = _operation_id(entry)
    name = f"{operation.partition('.')[0].removesuffix('s').capitalize()}StreamEvent"
    data = {word: schema[word] for word in ("anyOf", "$ref") if word in schema}
    schemas[name] = {"description": f"The `data` of one event of `{operation}`.", **data}
    return {"$ref": _SCHEMAS + name}


def _is_envelope(schema: Mapping[str, Any], samples: Samples) -> bool:
    return {"success", "data", "meta"} <= set(samples.resolved(schema).get("properties", {}))


def _envelope(entry: Described, schema: Mapping[str, Any], schemas: dict[str, Any]) -> dict[str, str]:
    """Return a reference to the envelope of a model (`OrderResponse`), a list (`OrderList`) or a page (`OrderPage`)."""
    meta = _meta_of(entry.operation)
    is_list = schema.get("type") == "array"
    payload: dict[str, Any] = dict(schema["items"] if is_list else schema)
    if "$ref" not in payload:
        raise Drifted(f"{entry.route.name}: a response is a model, or a list of models")
    model = payload["$ref"].removeprefix(_SCHEMAS)
    name = f"{model}{'Response' if not is_list else 'Page' if meta == 'OffsetMeta' else 'List'}"
    described = f"A response with {'a page of items' if is_list else 'one item'}: `{model}`."
    data = {"type": "array", "items": payload} if is_list else payload
    envelope = shown_schema(name, envelope_of(data, meta if is_list else "Meta", described))
    if schemas.setdefault(name, envelope) != envelope:
        raise Drifted(f"{entry.route.name}: {name} is another list or model elsewhere")
    return {"$ref": _SCHEMAS + name}


def _meta_of(operation: Mapping[str, Any]) -> str:
    names = {parameter["name"] for parameter in operation.get("parameters", [])}
    return "CursorMeta" if "cursor" in names else "OffsetMeta" if "page" in names else "Meta"


def _tags(entries: Iterable[Described]) -> list[dict[str, str]]:
    contexts: dict[str, list[str]] = {}
    for entry in entries:
        for tag in entry.operation.get("tags", [entry.route.upstream]):
            named = contexts.setdefault(tag, [])
            if _CONTEXTS[entry.route.upstream] not in named:
                named.append(_CONTEXTS[entry.route.upstream])
    return [
        *({"name": tag, "description": "; ".join(named)} for tag, named in contexts.items()),
        {"name": "health", "description": _CONTEXTS["api-gateway"]},
    ]


def _tag_groups(entries: Iterable[Described]) -> list[dict[str, Any]]:
    groups: dict[str, list[str]] = {}
    seen: set[str] = set()
    for entry in entries:
        for tag in entry.operation.get("tags", [entry.route.upstream]):
            if tag not in seen:
                seen.add(tag)
                groups.setdefault(_CONTEXTS[entry.route.upstream], []).append(tag)
    groups[_CONTEXTS["api-gateway"]] = ["health"]
    return [{"name": name, "tags": tags} for name, tags in groups.items()]


def _reached(whole: Mapping[str, Any], schemas: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schemas that public operations reference, without FastAPI's own 422 schema."""
    reached: set[str] = set()
    ahead = list(_references({name: part for name, part in whole.items() if name != "components"}))
    ahead += _references({**whole["components"], "schemas": {}})
    while ahead:
        name = ahead.pop().removeprefix(_SCHEMAS)
        if name in schemas and name not in reached:
            reached.add(name)
            ahead += _references(schemas[name])
    return {name: schemas[name] for name in sorted(reached)}


def _references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [found for inner in value.values() for found in _references(inner)]
    if isinstance(value, list):
        return [found for inner in value for found in _references(inner)]
    return []


def _in_the_words_of_json_schema(value: Any) -> Any:
    r"""Translate Python's `\z` to `$`."""
    if isinstance(value, dict):
        return {
            name: inner.replace(r"\z", "$").replace(r"\A", "^")
            if name == "pattern" and isinstance(inner, str)
            else _in_the_words_of_json_schema(inner)
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [_in_the_words_of_json_schema(inner) for inner in value]
    return value
