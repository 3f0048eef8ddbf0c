"""Types that all areas share."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from testkit.providers.schemas import TEXT, Schema, nullable, record, rows

NULLABLE_TEXT: Final = nullable(TEXT)
# Lists show the ids of transactions as text, and single responses as numbers.
IDENTIFIER: Final[Schema] = {"type": ["integer", "string"]}
# Requested or moved money: at most two decimals.
NAIRA: Final[Schema] = {"type": "number", "minimum": 0, "multipleOf": Decimal("0.01")}
# A fee is calculated, and may have more decimals (26.875).
FEE: Final[Schema] = {"type": ["number", "null"], "minimum": 0}
CURRENCY: Final[Schema] = {"type": "string", "pattern": "^[A-Z]{3}$"}
INSTANT: Final[Schema] = {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}"}
PAGE_INFO: Final = record({"page_info": record({"total current_page total_pages": {"type": "integer"}})})
ERROR: Final = record({"status": {"const": "error"}, "message": TEXT, "data": {"type": ["object", "null"]}})


def success(data: Schema, more: Mapping[str, Schema] | None = None) -> Schema:
    """Return the envelope of a success."""
    return record({"status": {"const": "success"}, "message": TEXT, "data": data, **(more or {})})


def listing(row: Schema) -> Schema:
    """Return the envelope of a list with its page."""
    return success(rows(row), {"meta": PAGE_INFO})


def exact(fields: Mapping[str, Schema]) -> Schema:
    """Return a request's object: with no field that the documentation does not name."""
    return record(fields, closed=True)
