"""CSV files (RFC 4180) that spreadsheets read as UTF-8, and in which no text runs as a formula (contract section 1.8)."""

import re
from collections.abc import AsyncIterator, Iterable, Sequence
from decimal import Decimal
from typing import Final

from common.observability.logging import get_logger

log = get_logger(__name__)

# Without it Excel reads the file in the code page of the machine: naira signs and Yoruba names are garbled.
BYTE_ORDER_MARK: Final = "\ufeff"
INCOMPLETE: Final = "ERROR: this file is incomplete. Export it again."
# Signs that begin a formula, also full-width and small ones, after blanks or quotes.
_SIGNS: Final = "=+\\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b"
# A spreadsheet that expects another separator than the comma splits a text there, whatever its quotes are. A control
# character at the begin is dropped by some programs, with what protects the rest.
_FORMULA: Final = re.compile(rf"^(?=[\t\r\n])|(^|[;,|\t\r\n\v\f\x85\u2028\u2029])(?=[\s\u200b\ufeff\"]*[{_SIGNS}])")


def csv_head(columns: Sequence[str]) -> str:
    """Return the begin of a file: the byte order mark, and the header line."""
    return BYTE_ORDER_MARK + csv_lines([columns])


def csv_lines(rows: Iterable[Iterable[object]]) -> str:
    """Return the rows as CSV lines. Each text is quoted, and an apostrophe is before what a spreadsheet would run in
    it.
    """
    return "".join(f"{','.join(map(_cell, row))}\r\n" for row in rows)


async def csv_stream(pages: AsyncIterator[str]) -> AsyncIterator[str]:
    """Yield the pages of a file whose response has begun: a failure ends it with a line that says so."""
    try:
        async for page in pages:
            yield page
    except Exception:
        log.exception("export ended early")
        yield csv_lines([[INCOMPLETE]])


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, int | Decimal):
        return str(value)
    text = _FORMULA.sub(r"\g<0>'", str(value)).replace('"', '""')
    return f'"{text}"'
