"""Types that all areas share."""

from decimal import Decimal
from typing import Any, Final

Schema = dict[str, Any]

TEXT: Final[Schema] = {"type": "string"}
NULLABLE_TEXT: Final[Schema] = {"type": ["string", "null"]}
# Lists show the ids of transactions as text, and single responses as numbers.
IDENTIFIER: Final[Schema] = {"type": ["integer", "string"]}
# Requested or moved money: at most two decimals.
NAIRA: Final[Schema] = {"type": "number", "minimum": 0, "multipleOf": Decimal("0.01")}
# A fee is calculated, and may have more decimals (26.875).
FEE: Final[Schema] = {"type": ["number", "null"], "minimum": 0}
CURRENCY: Final[Schema] = {"type": "string", "pattern": "^[A-Z]{3}$"}
INSTANT: Final[Schema] = {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}"}
PAGE_INFO: Final[Schema] = {
    "type": "object",
    "required": ["page_info"],
    "properties": {
        "page_info": {
            "type": "object",
            "required": ["total", "current_page", "total_pages"],
            "properties": {name: {"type": "integer"} for name in ("total", "current_page", "total_pages")},
        }
    },
}
ERROR: Final[Schema] = {
    "type": "object",
    "required": ["status", "message", "data"],
    "properties": {"status": {"const": "error"}, "message": TEXT, "data": {"type": ["object", "null"]}},
}


def success(data: Schema) -> Schema:
    """Return the envelope of a success."""
    return {
        "type": "object",
        "required": ["status", "message", "data"],
        "properties": {"status": {"const": "success"}, "message": TEXT, "data": data},
    }


def listing(row: Schema) -> Schema:
    """Return the envelope of a list with its page."""
    envelope = success({"type": "array", "items": row})
    return {
        **envelope,
        "required": [*envelope["required"], "meta"],
        "properties": {**envelope["properties"], "meta": PAGE_INFO},
    }


def record(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    """Return an object with these fields. Unknown fields are allowed: the provider adds some at any time."""
    return {"type": "object", "required": list(required), "properties": {**required, **(optional or {})}}


def exact(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    """Return a request's object: with no field that the documentation does not name."""
    return {**record(required, optional), "additionalProperties": False}
