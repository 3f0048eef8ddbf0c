"""Compare our schemas with a provider's own OpenAPI document, where `REFERENCES_DIR` has it."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from testkit.providers.operations import Operation
from testkit.providers.schemas import Schema

ANY_TYPE: Final = frozenset({"any"})
_JSON: Final = "application/json"


def references_folder() -> Path | None:
    """Return the folder of the providers' specifications; None when they are not on this machine."""
    given = os.environ.get("REFERENCES_DIR", "")
    return Path(given) if given else None


class OpenApi:
    """A provider's OpenAPI document."""

    def __init__(self, path: Path) -> None:
        self._document: dict[str, Any] = yaml.load(
            path.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        )

    def differences(self, operation: Operation) -> list[str]:
        """Return where operation and document differ, without its departures; and the departures that are none."""
        ours, theirs = self._places_of_ours(operation), self._places_of_theirs(operation)
        found = dict(_compare(ours, theirs))
        needless = [f"{operation.name} {place}: no difference" for place in operation.departures if place not in found]
        return [
            f"{operation.name} {place}: {text}" for place, text in found.items() if place not in operation.departures
        ] + needless

    def _places_of_ours(self, operation: Operation) -> dict[str, tuple[frozenset[str], bool]]:
        places = {f"query.{name}": (_own_types(schema), False) for name, schema in operation.query.items()}
        if operation.body is not None:
            places.update(self._flat(operation.body, "body", frozenset()))
        for status, schema in operation.responses.items():
            places.update(self._flat(schema, str(status), frozenset()))
        return places

    def _places_of_theirs(self, operation: Operation) -> dict[str, tuple[frozenset[str], bool]]:
        # Swagger 2 names the start of its paths apart, and a body among the parameters.
        path = operation.path.removeprefix(self._document.get("basePath", "").rstrip("/"))
        described = self._document["paths"][path][operation.method.lower()]
        parameters = [self._resolved(parameter) for parameter in described.get("parameters", ())]
        places = {
            f"query.{parameter['name']}": (self._types(parameter.get("schema", {})), False)
            for parameter in parameters
            if parameter["in"] == "query"
        }
        bodies = [parameter["schema"] for parameter in parameters if parameter["in"] == "body"]
        body = bodies[0] if bodies else self._content(described.get("requestBody", {}))
        if body is not None:
            places.update(self._flat(body, "body", frozenset()))
        for status in operation.responses:
            content = self._content(described["responses"].get(str(status), {}))
            if content is not None:
                places.update(self._flat(content, str(status), frozenset()))
        return places

    def _content(self, holder: Mapping[str, Any]) -> Schema | None:
        resolved = self._resolved(holder)
        schema: Schema | None = resolved.get("schema") or resolved.get("content", {}).get(_JSON, {}).get("schema")
        return schema

    def _flat(self, schema: Schema, place: str, required: frozenset[str]) -> dict[str, tuple[frozenset[str], bool]]:
        """Every property below the schema by its place, with its types and whether it is required."""
        schema = self._resolved(schema)
        found: dict[str, tuple[frozenset[str], bool]] = {}
        if "items" in schema:
            found.update(self._flat(schema["items"], f"{place}[]", frozenset()))
        required_names = frozenset(schema.get("required", ()))
        for name, inner in schema.get("properties", {}).items():
            found[f"{place}.{name}"] = (self._types(inner), name in required_names)
            found.update(self._flat(inner, f"{place}.{name}", required_names))
        return found

    def _types(self, schema: Schema) -> frozenset[str]:
        schema = self._resolved(schema)
        alternatives = schema.get("anyOf") or schema.get("oneOf")
        if "type" not in schema and alternatives:
            return frozenset().union(*(self._types(one) for one in alternatives))
        types = _own_types(schema)
        return types | {"null"} if schema.get("nullable") and types != ANY_TYPE else types

    def _resolved(self, value: Any) -> Any:
        while isinstance(value, dict) and "$ref" in value:
            found: Any = self._document
            for step in value["$ref"].removeprefix("#/").split("/"):
                found = found[step]
            value = found
        if isinstance(value, dict) and "allOf" in value and "properties" not in value:
            parts = [self._resolved(part) for part in value["allOf"]]
            merged: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
            for part in parts:
                merged["properties"].update(part.get("properties", {}))
                merged["required"] += part.get("required", [])
            return merged
        return value


def _own_types(schema: Schema) -> frozenset[str]:
    listed = schema.get("type", "any")
    return frozenset([listed] if isinstance(listed, str) else listed)


Places = Mapping[str, tuple[frozenset[str], bool]]


def _compare(ours: Places, theirs: Places) -> Iterator[tuple[str, str]]:
    """Yield a property below one that we hold as a whole is not compared."""
    for place, (types, is_required) in ours.items():
        if place not in theirs:
            yield place, "is not in the specification"
            continue
        their_types, their_required = theirs[place]
        if ANY_TYPE not in (types, their_types) and types != their_types:
            yield place, f"is {_names(types)} here and {_names(their_types)} there"
        elif is_required != their_required:
            yield place, "is required here only" if is_required else "is required there only"
    parents = {place.rpartition(".")[0] for place in ours}
    for place, (_, is_required) in theirs.items():
        if is_required and place not in ours and place.rpartition(".")[0] in parents:
            yield place, "is required there, and not listed here"


def _names(types: frozenset[str]) -> str:
    return " or ".join(sorted(types))
