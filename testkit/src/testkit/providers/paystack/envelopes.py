"""Parts that the responses of several areas have in common."""

from collections.abc import Mapping
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
    {"status? errorCodeMappingNotFound?": FLAG, "message? type? code?": TEXT, "meta?": record({"nextStep?": TEXT})}
)


def success(content: Schema) -> Schema:
    """Return the envelope of a success."""
    return record({"status": FLAG, "message": TEXT, "data": content})


def page(row: Schema, meta: Mapping[str, Schema]) -> Schema:
    """Return the envelope of a list with its position in `meta`."""
    return record({"status": FLAG, "message": TEXT, "data": rows(row), "meta": record(meta)})


def customer(fields: Mapping[str, Schema]) -> Schema:
    """Return a payer with the fields that every response has, and `fields`."""
    return record(
        {
            "id": WHOLE,
            "first_name last_name phone": nullable(TEXT),
            "email customer_code risk_action": TEXT,
            "metadata": ANYTHING,
            **fields,
        }
    )


PAGE_META: Final[Mapping[str, Schema]] = {"total skipped page pageCount": WHOLE}
TEXT_OR_WHOLE: Final = either(TEXT, WHOLE)
OBJECT_OR_NULL: Final = nullable(OBJECT)
