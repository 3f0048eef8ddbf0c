"""The services' schemas for readers and generators: described, with formats, without generated titles and defaults."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from campus_tools.documents.texts import FIELDS, PARAMETERS

_INT32_MAX: Final = 2**31 - 1


def shown_schema(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a component. Defaults of a request are described only: generated clients would send them."""
    is_request = schema.get("additionalProperties") is False
    shown: dict[str, Any] = {
        "type": "object",
        **_plain(schema),
        "description": _sentence(schema.get("description") or f"{_words(name)}."),
    }
    if "properties" in schema:
        shown["properties"] = {
            field: _field(name, field, inner, is_request) for field, inner in schema["properties"].items()
        }
    return shown if "properties" in schema or schema.get("type", "object") == "object" else _plain(schema)


def shown_parameter(parameter: Mapping[str, Any]) -> dict[str, Any]:
    """Return a parameter with a description and without a generated title."""
    name = {"last-event-id": "Last-Event-ID", "if-match": "If-Match"}.get(parameter["name"], parameter["name"])
    own = parameter.get("description") or parameter.get("schema", {}).get("description")
    described = own or PARAMETERS.get(name) or (_id_named(name) if parameter["in"] == "path" else None)
    schema = {word: value for word, value in _plain(parameter.get("schema", {})).items() if word != "description"}
    shown = {**parameter, "name": name, "schema": _with_format(name, schema)}
    return shown if described is None else {**shown, "description": described}


def undescribed(schemas: Mapping[str, Any]) -> Iterator[str]:
    """Yield each property without a description, with its schema."""
    for name, schema in schemas.items():
        for field, inner in schema.get("properties", {}).items():
            if not inner.get("description"):
                yield f"{name}.{field}"


def _field(schema_name: str, name: str, schema: Mapping[str, Any], is_request: bool) -> dict[str, Any]:
    described = schema.get("description") or FIELDS.get(f"{schema_name}.{name}") or FIELDS.get(name)
    shown = _with_format(name, _plain(schema))
    if is_request and "default" in schema:
        default = shown.pop("default")
        if described and default not in (None, ""):
            described = f"{described} By default `{str(default).lower() if isinstance(default, bool) else default}`."
    return shown if described is None else {**shown, "description": described}


def _with_format(name: str, schema: Any) -> Any:
    """Integers are 32 bit unless they are amounts or may be larger."""
    if isinstance(schema, dict):
        if schema.get("type") == "integer":
            is_large = name.endswith(("Minor", "_minor")) or schema.get("maximum", 0) > _INT32_MAX
            return {**schema, "format": "int64" if is_large else "int32"}
        return {
            word: [_with_format(name, choice) for choice in value]
            if word == "anyOf"
            else _with_format(name, value)
            if word in ("items", "additionalProperties")
            else value
            for word, value in schema.items()
        }
    return schema


def _plain(value: Any) -> Any:
    """Without generated titles. A property may be named `title`."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {
            word: {name: _plain(inner) for name, inner in part.items()}
            if word == "properties" and isinstance(part, dict)
            else _plain(part)
            for word, part in value.items()
            if not (word == "title" and isinstance(part, str))
        }
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


def _id_named(name: str) -> str:
    """Return the description of `{order_id}`: the id of an order."""
    return f"The id of the {name.removesuffix('_id').replace('_', ' ')}."


def _words(name: str) -> str:
    return " ".join(
        word if index == 0 else word.lower() for index, word in enumerate(re.findall("[A-Z][a-z0-9]*", name))
    )


def _sentence(text: str) -> str:
    return " ".join(text.split())
