"""Orders as a CSV file for staff."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from common.clock import iso, iso_or_none

# A file that a person opens; who needs more asks for one part of the time after the other.
EXPORT_ROWS_MAX: Final = 10_000
# Some milliseconds of work: others are served between two pieces.
_PIECE_ROWS: Final = 200
_COLUMNS: Final = (
    "id",
    "status",
    "campusId",
    "vendorId",
    "buyerId",
    "hubId",
    "currency",
    "totalMinor",
    "subtotalMinor",
    "deliveryFeeMinor",
    "commissionMinor",
    "refundedMinor",
    "createdAt",
    "updatedAt",
    "deliveredAt",
    "deliveryNote",
)
# What a spreadsheet takes for the beginning of a formula.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")


def csv_of_orders(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """RFC 4180, with a line of names, piece by piece; amounts in kobo. A text that a spreadsheet would run is shown as text."""
    yield _lines([_COLUMNS])
    for start in range(0, len(rows), _PIECE_ROWS):
        yield _lines(_cells(row) for row in rows[start : start + _PIECE_ROWS])


def _cells(row: Mapping[str, Any]) -> Sequence[Any]:
    return (
        row["id"],
        row["status"],
        row["campus_id"],
        row["vendor_id"],
        row["buyer_id"],
        row["hub_id"],
        row["currency"],
        row["total_amount"],
        row["subtotal_minor"],
        row["delivery_fee_minor"],
        row["commission_minor"],
        row["refunded_minor"],
        iso(row["created_at"]),
        iso(row["updated_at"]),
        iso_or_none(row["delivered_at"]),
        _as_text(row["delivery_note"]),
    )


def _lines(rows: Iterable[Sequence[Any]]) -> str:
    written = io.StringIO()
    csv.writer(written).writerows(rows)
    return written.getvalue()


def _as_text(text: str | None) -> str | None:
    # Leading blanks do not stop a spreadsheet from reading a formula.
    return f"'{text}" if text is not None and (text.lstrip(" ").startswith(_FORMULA)) else text
