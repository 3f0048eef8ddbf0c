"""`contracts/choices.json`: the values of the query parameters that accept one of a few, for console and campusctl."""

from collections.abc import Mapping
from typing import Any, Final

_NO_FILTERS: Final = ("sort", "order")


def choices(document: Mapping[str, Any]) -> dict[str, dict[str, list[str]]]:
    """Return the values by path and parameter, from the OpenAPI document."""
    found: dict[str, dict[str, list[str]]] = {}
    for path, operations in document["paths"].items():
        for parameter in operations.get("get", {}).get("parameters", ()):
            if parameter.get("in") != "query" or parameter["name"] in _NO_FILTERS:
                continue
            if values := _values(parameter["schema"]):
                found.setdefault(path, {})[parameter["name"]] = values
    return found


def _values(schema: Mapping[str, Any]) -> list[str]:
    """Return the texts that a schema accepts; empty where it accepts any."""
    alternatives = [one for one in schema.get("anyOf", [schema]) if one.get("type") != "null"]
    values = [value for one in alternatives for value in one.get("enum", [one["const"]] if "const" in one else [])]
    return values if all(isinstance(value, str) for value in values) else []
