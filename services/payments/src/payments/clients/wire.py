"""Read JSON values of a gateway. Nothing here raises for an odd value."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from common.primitives.money import AMOUNT_MINOR_MAX

# Far above any id of a gateway, far below the limit of a PostgreSQL index.
ID_CHARACTERS_MAX: Final = 200
# Every number of so many digits fits a bigint.
DIGITS_MAX: Final = 18
# Fields of an object that describe a failure, best first.
_CAUSE_FIELDS: Final = ("message", "reason", "gateway_response", "description", "error")


def data_of(body: Any) -> Mapping[str, Any]:
    """Return the event's `data`, empty when there is none."""
    return fields_of(fields_of(body).get("data"))


def fields_of(value: Any) -> Mapping[str, Any]:
    """Return an object's fields; empty for any other value (0, "", a list)."""
    return value if isinstance(value, dict) else {}


def text_of(value: Any) -> str | None:
    """Return a text that a column and its index can store; None for any other value."""
    if not isinstance(value, str) or not 0 < len(value) <= ID_CHARACTERS_MAX:
        return None
    if "\x00" in value or any("\ud800" <= character <= "\udfff" for character in value):
        return None
    return value


def identifier_of(value: Any) -> str | None:
    """Return an id as text: a gateway's are integers or texts."""
    if isinstance(value, int) and not isinstance(value, bool):
        return text_of(str(value))
    return text_of(value)


def whole_of(value: Any) -> int | None:
    """Return a whole number, also as a text of digits; None for any other value."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= DIGITS_MAX:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def phrase_of(value: Any) -> str | None:
    """Return a free text such as a reason, cut to the maximal length."""
    return text_of(value[:ID_CHARACTERS_MAX]) if isinstance(value, str) else None


def kobo_of(value: Any) -> int | None:
    """Return a whole amount in kobo, as a number or in digits, at least zero; None for anything else."""
    amount_minor = whole_of(value)
    return amount_minor if amount_minor is not None and 0 <= amount_minor <= AMOUNT_MINOR_MAX else None


def cause_of(value: Any) -> str | None:
    """Why a transfer failed: a text, the describing field of an object, or those of the objects of a list."""
    if isinstance(value, list):
        return phrase_of("; ".join(filter(None, map(cause_of, value))))
    described = (cause_of(value[name]) for name in _CAUSE_FIELDS if name in value) if isinstance(value, dict) else ()
    text = value.strip() if isinstance(value, str) else None
    return next(filter(None, described), None) or phrase_of(text)


def instant_of(value: Any) -> datetime | None:
    """Return an ISO 8601 instant with its offset; None for anything else."""
    if not isinstance(value, str):
        return None
    try:
        instant = datetime.fromisoformat(value)
    except ValueError:
        return None
    return instant.astimezone(UTC) if instant.tzinfo is not None else None
