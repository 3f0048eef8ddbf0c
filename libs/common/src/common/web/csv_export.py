"""CSV files that people open in spreadsheets (RFC 4180), where a text must never be run as a formula."""

import csv
import io
from collections.abc import Iterable
from typing import Any, Final

# What a spreadsheet takes for the beginning of a formula.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")


def csv_lines(rows: Iterable[Iterable[Any]]) -> str:
    """The rows as lines, each ended."""
    written = io.StringIO()
    csv.writer(written).writerows(rows)
    return written.getvalue()


def as_text(text: str | None) -> str | None:
    """The text, behind an apostrophe when a spreadsheet would read it as a formula; leading blanks do not stop it."""
    return f"'{text}" if text is not None and text.lstrip(" ").startswith(_FORMULA) else text
