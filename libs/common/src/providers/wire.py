"""Read and write JSON values of a provider. Nothing here raises for an odd value."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Final, TypeAlias

from common.primitives.money import AMOUNT_MINOR_MAX

# A JSON value of a provider; numbers with decimals are exact where its API decodes them so.
Value: TypeAlias = bool | int | float | Decimal | str | list["Value"] | dict[str, "Value"] | None
Fields: TypeAlias = Mapping[str, Value]

# Far above any id of a gateway, far below the limit of a PostgreSQL index.
ID_CHARACTERS_MAX: Final = 200
# Every number of so many digits fits a bigint.
DIGITS_MAX: Final = 18
# Fields of an object that describe a failure, best first.
_CAUSE_FIELDS: Final = ("message", "reason", "gateway_response", "description", "error")


def data_of(body: object) -> Fields:
    """Return the event's `data`, empty when there is none."""
    return fields_of(fields_of(body).get("data"))


def fields_of(value: object) -> Fields:
    """Return an object's fields; empty for any other value (0, "", a list)."""
    return value if isinstance(value, dict) else {}


def text_of(value: Value) -> str | None:
    """Return a text that a column and its index can store; None for any other value."""
    if not isinstance(value, str) or not 0 < len(value) <= ID_CHARACTERS_MAX:
        return None
    if "\x00" in value or any("\ud800" <= character <= "\udfff" for character in value):
        return None
    return value


def identifier_of(value: Value) -> str | None:
    """Return an id as text: a gateway's are integers or texts."""
    if isinstance(value, int) and not isinstance(value, bool):
        return text_of(str(value))
    return text_of(value)


def whole_of(value: Value) -> int | None:
    """Return a whole number, also as a text of digits; None for any other value."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= DIGITS_MAX:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def phrase_of(value: Value) -> str | None:
    """Return a free text such as a reason, cut to the maximal length."""
    return text_of(value.strip()[:ID_CHARACTERS_MAX].replace("\x00", "")) if isinstance(value, str) else None


def cause_of(value: Value) -> str | None:
    """Why a transfer failed: a text, the describing field of an object, or those of the objects of a list.

    An object without one is shown as it is.
    """
    if isinstance(value, list):
        return phrase_of("; ".join(filter(None, map(cause_of, value))))
    if isinstance(value, dict) and value:
        described = (cause_of(value[name]) for name in _CAUSE_FIELDS if name in value)
        return next(filter(None, described), None) or phrase_of(json.dumps(value, separators=(",", ":"), default=str))
    return phrase_of(value)


def instant_of(value: Value) -> datetime | None:
    """Return an ISO 8601 instant in UTC, which is also the default time zone; None for anything else."""
    try:
        instant = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    if instant is None:
        return None
    return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)


def kobo_of(value: Value, least: int = 0) -> int | None:
    """Return a whole amount in kobo, as a number or in digits, within our bounds; None for anything else."""
    amount_minor = whole_of(value)
    return amount_minor if amount_minor is not None and least <= amount_minor <= AMOUNT_MINOR_MAX else None


def kobo_of_naira(value: Value, least: int = 0) -> int | None:
    """Return naira as whole kobo; None for more than two decimals and for anything else."""
    amount = _exact_kobo(value)
    return None if amount is None or amount != amount.to_integral_value() or amount < least else int(amount)


def rounded_kobo_of_naira(value: Value) -> int | None:
    """Return a calculated fee, which may have more decimals (26.875), in kobo rounded half up; None when there is
    none.
    """
    amount = _exact_kobo(value)
    return None if amount is None or amount < 0 else int(amount.to_integral_value(ROUND_HALF_UP))


def naira_text(amount_minor: int) -> str:
    """Return kobo as naira in text, exactly."""
    return f"{amount_minor // 100}.{amount_minor % 100:02d}"


def naira_number(amount_minor: int) -> int | float:
    """Return kobo as a JSON number of naira. The shortest text of this float has the two decimals, below 2^53."""
    return amount_minor // 100 if amount_minor % 100 == 0 else float(naira_text(amount_minor))


def _exact_kobo(value: Value) -> Decimal | None:
    """Return naira as kobo, exactly. A float is refused: it was not read as a decimal."""
    if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
        return None
    try:
        amount = Decimal(value) * 100
    except (InvalidOperation, ValueError):
        return None
    return amount if amount.is_finite() and abs(amount) <= AMOUNT_MINOR_MAX else None
