"""Reading fields of a call the way the gateway does: lenient about the type of a number, strict about its value."""

import re
from typing import Any

from starlette.requests import Request

from sandbox.clock import parse_moment
from sandbox.database import AMOUNT_MINOR_MAX
from sandbox.web import RefusedError

REFERENCE = re.compile(r"[A-Za-z0-9.=_-]{1,100}")
# More digits would not fit SQLite's integers.
ROW_ID_DIGITS_MAX = 18
CURRENCY = re.compile(r"[A-Z]{3}")


def read_amount_minor(value: Any) -> int:
    """Kobo as an integer or a string of digits; raises RefusedError 400."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 19:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= AMOUNT_MINOR_MAX:
        raise RefusedError(400, "Invalid Amount Sent")
    return value


def read_text(body: dict[str, Any], name: str, default: str | None = None) -> str:
    """Return a text field; without a default it is required. Raises RefusedError 400."""
    value = body.get(name)
    if value is None or value == "":
        if default is None:
            raise RefusedError(400, f"{name} is required")
        return default
    if not isinstance(value, str):
        raise RefusedError(400, f"{name} must be a string")
    return value


def read_reference(body: dict[str, Any], default: str) -> str:
    reference = read_text(body, "reference", default)
    if not REFERENCE.fullmatch(reference):
        raise RefusedError(400, "Reference may only contain alphanumeric characters, -, _, . and =")
    return reference


def read_currency(body: dict[str, Any]) -> str:
    currency = read_text(body, "currency", "NGN")
    if not CURRENCY.fullmatch(currency):
        raise RefusedError(400, "Currency not supported by merchant")
    return currency


def read_moment(text: str | None) -> str | None:
    """Return a bound of a list (`from`, `to`) in sortable form."""
    if not text:
        return None
    try:
        # A plus sign that was not escaped arrives as a space.
        return parse_moment(text.replace(" ", "+"))
    except ValueError:
        raise RefusedError(400, "Invalid date format passed: use ISO 8601") from None


def read_number(request: Request, name: str, default: int, high: int) -> int:
    """Return a whole number from 1 to `high` in the query; raises RefusedError 400."""
    text = request.query_params.get(name)
    if text is None:
        return default
    number = row_id(text)
    if number is None or not 1 <= number <= high:
        raise RefusedError(400, f"{name} must be a number from 1 to {high}")
    return number


def row_id(given: Any) -> int | None:
    """Return a row's id as a number or in digits; None when no row can have it."""
    text = str(given)
    return int(text) if text.isascii() and text.isdigit() and len(text) <= ROW_ID_DIGITS_MAX else None
