"""Words to write a JSON Schema with. An object may have more fields than it lists, unless it is `closed`."""

from collections.abc import Collection, Mapping
from typing import Any, Final

import jsonschema

Schema = Mapping[str, Any]

TEXT: Final[Schema] = {"type": "string"}
WHOLE: Final[Schema] = {"type": "integer"}
NUMBER: Final[Schema] = {"type": "number"}
FLAG: Final[Schema] = {"type": "boolean"}
OBJECT: Final[Schema] = {"type": "object"}
ANYTHING: Final[Schema] = {}
# ISO 8601 in UTC, as the providers write it.
INSTANT: Final[Schema] = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$"}
DIGITS: Final[Schema] = {"type": "string", "pattern": "^[0-9]+$"}


class Nonconformance(AssertionError):
    """A call, an response or an event does not fit its schema; the message names the place."""


def choice(*values: str) -> Schema:
    """One of these texts."""
    return {"type": "string", "enum": list(values)}


def nullable(schema: Schema) -> Schema:
    """Return the schema, or null."""
    changed: dict[str, Any] = {**schema, "type": [*_types(schema), "null"]}
    if "enum" in schema:
        changed["enum"] = [*schema["enum"], None]
    return changed


def either(*schemas: Schema) -> Schema:
    """Any of schemas that differ in their types only."""
    return {"type": [name for schema in schemas for name in _types(schema)]}


def record(fields: Mapping[str, Schema], optional: Collection[str] = (), *, closed: bool = False) -> Schema:
    """Return an object. A key has one or more names; a later one replaces an earlier one of that name.

    A name is required unless it ends with `?` here, or is among the `optional` ones of fields that several share.
    """
    properties: dict[str, Schema] = {}
    required: dict[str, None] = {}
    for names, field in fields.items():
        for name in names.split():
            plain = name.removesuffix("?")
            properties[plain] = field
            required.pop(plain, None)
            if plain == name and name not in optional:
                required[name] = None
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": list(required)}
    if closed:
        schema["additionalProperties"] = False
    return schema


def rows(item: Schema) -> Schema:
    """Return a list of items."""
    return {"type": "array", "items": item}


def conform(value: Any, schema: Schema, name: str) -> None:
    """Raise Nonconformance with every place where the value does not fit the schema."""
    found = sorted(
        jsonschema.Draft202012Validator(schema).iter_errors(value), key=lambda error: list(error.absolute_path)
    )
    if found:
        places = "; ".join(f"{error.json_path}: {error.message}" for error in found)
        raise Nonconformance(f"{name}: {places}")


def _types(schema: Schema) -> list[str]:
    listed = schema["type"]
    return [listed] if isinstance(listed, str) else list(listed)
