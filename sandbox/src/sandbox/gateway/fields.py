"""Reading fields of a call the way the gateway does: lenient about the type of a number, strict about its value."""

import base64
import re
from collections.abc import Mapping
from sqlite3 import Row
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


def copied(row: Row | Mapping[str, Any], names: str, **renamed: str) -> dict[str, Any]:
    """Return the columns of these names, and those of another name by the name of the field."""
    return {name: row[name] for name in names.split()} | {name: row[column] for name, column in renamed.items()}


def nulls(names: str) -> dict[str, None]:
    """Return fields that the sandbox never fills."""
    return dict.fromkeys(names.split())


def write_cursor(kind: str, position: int) -> str:
    """Return the text by which the next call names a position in a list."""
    return base64.b64encode(f"{kind}:{position}".encode()).decode()


def read_cursor(kind: str, cursor: str | None) -> int | None:
    """Return the position of a cursor; raises RefusedError 400 for one that no list of this kind issued."""
    if not cursor:
        return None
    try:
        found, _, position = base64.b64decode(cursor, validate=True).decode().partition(":")
    except ValueError:
        found, position = "", ""
    if found != kind or not position.isdecimal():
        raise RefusedError(400, "Invalid cursor")
    return int(position)
