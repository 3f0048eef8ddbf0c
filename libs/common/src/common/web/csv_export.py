"""CSV files (RFC 4180) that spreadsheets read as UTF-8, and in which no text runs as a formula
(contract section 1.8).
"""

import csv
import io
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Final

from common.observability.logging import get_logger
from common.web.exception_handlers import problem_of

log = get_logger(__name__)

# Without it Excel reads the file in the code page of the machine: naira signs and Yoruba names are garbled.
BYTE_ORDER_MARK: Final = "\ufeff"
INCOMPLETE: Final = "ERROR: this file is incomplete. Export it again."
# Signs that begin a formula, also full-width and small ones, after blanks or quotes.
_SIGNS: Final = tuple("=+-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b")
# A spreadsheet that expects another separator than the comma splits a text there, whatever its quotes are.
_BREAKS: Final = ";,|\t\r\n\v\f\x85\u2028\u2029"
# Characters that may precede a sign. The match always succeeds, so that long runs cost linear time.
_RUN: Final = re.compile(rf"^[{_BREAKS}\s\u200b\ufeff\"']*|[{_BREAKS}\s\u200b\ufeff\"']+")
_BREAK: Final = re.compile(rf"([{_BREAKS}])")
_PROTECTED_BREAK: Final = re.compile(rf"([{_BREAKS}])'")


def csv_head(columns: Sequence[str]) -> str:
    """Return the begin of a file: the byte order mark, and the header line."""
    return BYTE_ORDER_MARK + csv_lines([columns])


def csv_lines(rows: Iterable[Iterable[object]]) -> str:
    """Return the rows as CSV lines. Each text is quoted, and an apostrophe is before what a spreadsheet would run in
    it.
    """
    return "".join(f"{','.join(map(_cell, row))}\r\n" for row in rows)


def read_csv(text: str) -> Iterator[list[str]]:
    """Yield the rows of a file as `csv_lines` wrote them; an empty line is an empty row.

    Raises ValueError, with the line, for quotes that do not fit and for a cell above 128 KiB.
    """
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            yield [_protected(cell, is_written=False) for cell in row]
    except csv.Error as error:
        reason = f"line {reader.line_num}: a quote does not end, text follows a quote, or a cell is too long"
        raise ValueError(reason) from error


async def csv_stream(pages: AsyncIterator[str]) -> AsyncIterator[str]:
    """Yield the pages of a file whose response has begun: a failure ends it with a line that says so."""
    try:
        async for page in pages:
            yield page
    except Exception as error:
        if problem_of(error) is None:
            log.exception("export ended early")
        else:
            log.warning("export ended early", error=repr(error))
        yield csv_lines([[INCOMPLETE]])


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, int | Decimal):
        return str(value)
    text = _protected(str(value), is_written=True).replace('"', '""')
    return f'"{text}"'


def _protected(text: str, *, is_written: bool) -> str:
    """Return the text with an apostrophe before each formula, or, when it is read, without that apostrophe."""

    def edit(run: re.Match[str]) -> str:
        characters, is_formula = run[0], text.startswith(_SIGNS, run.end())
        # A control character at the begin is dropped by some programs, with what protects the rest.
        is_dropped = characters.lstrip("'").startswith(("\t", "\r", "\n"))
        if is_formula:
            characters = _BREAK.sub(r"\1'", characters) if is_written else _PROTECTED_BREAK.sub(r"\1", characters)
        if run.start() > 0 or not (is_formula or is_dropped):
            return characters
        return f"'{characters}" if is_written else characters.removeprefix("'")

    return _RUN.sub(edit, text)
