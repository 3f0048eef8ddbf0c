"""Every response in the tests of this folder is compared with the served OpenAPI document, strictly (issue 14, number
22).

Status, media type and body: an undocumented field is a difference. Differences are collected, and fail the run at its
end with their operations.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
from jsonschema_rs import Draft202012, Draft202012Validator, Registry

DOCUMENT = "urn:openapi"
"""The address of the document in references of its schemas."""


@dataclass
class Responses:
    """The served document, and the differences of responses from it: by operation, status and place, with one
    example.
    """

    document: Mapping[str, Any]
    compared: set[tuple[str, str]] = field(default_factory=set)
    differences: dict[str, str] = field(default_factory=dict)
    _validators: dict[int, Draft202012Validator] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.document = closed(self.document)
        self._registry = Registry([(DOCUMENT, dict(self.document))], draft=Draft202012)
        # Fixed segments win over parameters: /api/wallets/current before /api/wallets/{id}.
        self._templates = sorted(self.document["paths"], key=lambda path: (path.count("{"), path))
        self._path = re.compile("|".join(re.sub(r"\{[^}/]+\}", "[^/]+", f"({path})") for path in self._templates))

    async def compare(self, response: httpx.Response) -> None:
        """Compare the response: an event hook of the client."""
        request = response.request
        path, operation = self._operation(request.method, request.url.path)
        if operation is None:
            return
        called = f"{request.method} {path}"
        self.compared.add((request.method, path))
        documented = operation["responses"].get(str(response.status_code))
        if documented is None and response.is_error:
            documented = operation["responses"].get("default")
        if documented is None:
            self._differs(called, response, "the status is not documented")
            return
        documented = self._resolved(documented)
        media_type = response.headers.get("content-type", "").partition(";")[0]
        content = documented.get("content")
        if media_type == "text/event-stream":
            return
        body = await response.aread()
        if not content:
            if body:
                self._differs(called, response, f"a body of {media_type} where none is documented")
            return
        if media_type not in content:
            self._differs(called, response, f"{media_type or 'no media type'} in place of {', '.join(content)}")
            return
        schema = content[media_type].get("schema")
        if schema and media_type.endswith("json"):
            for error in self._validator(schema).iter_errors(response.json()):
                place = "/".join("*" if isinstance(part, int) else part for part in error.instance_path)
                self._differs(called, response, f"{place or 'the body'}: {error.message[:300]}")

    def _operation(self, method: str, path: str) -> tuple[str, Mapping[str, Any] | None]:
        found = self._path.fullmatch(path)
        if found is None or found.lastindex is None:
            return path, None
        template = self._templates[found.lastindex - 1]
        return template, self.document["paths"][template].get(method.lower())

    def _resolved(self, part: Mapping[str, Any]) -> Mapping[str, Any]:
        while "$ref" in part:
            found: Any = self.document
            for name in part["$ref"].removeprefix(f"{DOCUMENT}#/").split("/"):
                found = found[name]
            part = found
        return part

    def _validator(self, schema: dict[str, Any]) -> Draft202012Validator:
        if id(schema) not in self._validators:
            self._validators[id(schema)] = Draft202012Validator(schema, registry=self._registry)
        return self._validators[id(schema)]

    def _differs(self, called: str, response: httpx.Response, difference: str) -> None:
        kind = re.sub(r"""'[^']*'|"[^"]*"|\d+""", "*", difference)
        self.differences.setdefault(f"{called} {response.status_code}: {kind}", difference)

    def report(self) -> str:
        return "\n".join(f"{kind}\n    {example}" for kind, example in sorted(self.differences.items()))


def closed(schema: Any, *, inside_all_of: bool = False) -> Any:
    """Return the document with every object closed: what a schema does not name is refused. References name the
    document.
    """
    if isinstance(schema, list):
        return [closed(part, inside_all_of=inside_all_of) for part in schema]
    if not isinstance(schema, dict):
        return schema
    parts = {name: closed(part, inside_all_of=name == "allOf") for name, part in schema.items()}
    if isinstance(schema.get("$ref"), str):
        parts["$ref"] = f"{DOCUMENT}{schema['$ref']}"
    is_object = isinstance(schema.get("properties"), dict) and schema.get("type") in ("object", None)
    if "allOf" in schema and not inside_all_of:
        parts.setdefault("unevaluatedProperties", False)
    elif is_object and not inside_all_of and "properties" in parts:
        parts.setdefault("additionalProperties", False)
    return parts
