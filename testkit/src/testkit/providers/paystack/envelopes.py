"""Parts that the responses of several areas have in common."""

from collections.abc import Iterable, Mapping
from typing import Final

from testkit.providers.schemas import (
    ANYTHING,
    FLAG,
    OBJECT,
    TEXT,
    WHOLE,
    Schema,
    choice,
    either,
    nullable,
    record,
    rows,
)

CURRENCY: Final = choice("GHS", "KES", "NGN", "USD", "ZAR")
# `type` and `code` are absent from old responses such as "Invalid key".
FAULT: Final = record(
    {
        "status": FLAG,
        "message": TEXT,
        "meta": record({"nextStep": TEXT}, optional=("nextStep",)),
        "type": TEXT,
        "code": TEXT,
        "errorCodeMappingNotFound": FLAG,
    },
    optional=("status", "message", "meta", "type", "code", "errorCodeMappingNotFound"),
)


def success(content: Schema) -> Schema:
    """Return the envelope of a success."""
    return record({"status": FLAG, "message": TEXT, "data": content})


def page(row: Schema, meta: Mapping[str, Schema]) -> Schema:
    """Return the envelope of a list with its position in `meta`."""
    return record({"status": FLAG, "message": TEXT, "data": rows(row), "meta": record(meta)})


def customer(fields: Mapping[str, Schema], optional: Iterable[str] = ()) -> Schema:
    """Return a payer with the fields that every response has, and `fields`."""
    listed: dict[str, Schema] = {
        "id": WHOLE,
        "first_name": nullable(TEXT),
        "last_name": nullable(TEXT),
        "email": TEXT,
        "customer_code": TEXT,
        "phone": nullable(TEXT),
        "metadata": ANYTHING,
        "risk_action": TEXT,
        **fields,
    }
    return record(listed, optional)


PAGE_META: Final[Mapping[str, Schema]] = {"total": WHOLE, "skipped": WHOLE, "page": WHOLE, "pageCount": WHOLE}
TEXT_OR_WHOLE: Final = either(TEXT, WHOLE)
OBJECT_OR_NULL: Final = nullable(OBJECT)
