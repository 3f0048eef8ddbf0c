"""CSV files (RFC 4180) in which no text runs as a formula of a spreadsheet."""

import csv
import io
from collections.abc import Iterable
from typing import Any, Final

# First characters of a formula.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")


def csv_lines(rows: Iterable[Iterable[Any]]) -> str:
    """The rows as CSV lines."""
    written = io.StringIO()
    csv.writer(written).writerows(rows)
    return written.getvalue()


def as_text(text: str | None) -> str | None:
    """The text, after an apostrophe if a spreadsheet would read it as a formula, leading blanks ignored."""
    return f"'{text}" if text is not None and text.lstrip(" ").startswith(_FORMULA) else text
