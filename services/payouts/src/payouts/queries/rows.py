"""From rows to responses."""

from datetime import datetime
from functools import cache
from typing import Any

from asyncpg import Record

from common.primitives.clock import iso


def response_of(row: Record, *nested: str) -> dict[str, Any]:
    """Return the row in the shape of its response: names in camel case, instants in ISO 8601.

    The columns `<name>__<column>` become the member `<name>` for each name of `nested`; it is None where `<name>__id` is null.
    """
    response: dict[str, Any] = {_camel(name): None if row[f"{name}__id"] is None else {} for name in nested}
    for column, value in row.items():
        name, _, member = column.partition("__")
        shown = iso(value) if isinstance(value, datetime) else value
        if not member:
            response[_camel(name)] = shown
        elif response[_camel(name)] is not None:
            response[_camel(name)][_camel(member)] = shown
    return response


@cache
def _camel(column: str) -> str:
    first, *others = column.split("_")
    return first + "".join(word.capitalize() for word in others)
