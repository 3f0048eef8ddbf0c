"""Orders as a CSV file for staff."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from common.primitives.clock import iso, iso_or_none
from common.web.csv_export import as_text, csv_lines

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


def csv_of_orders(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """RFC 4180, with a line of names, piece by piece; amounts in kobo. A text that a spreadsheet would run is shown as text."""
    yield csv_lines([_COLUMNS])
    for start in range(0, len(rows), _PIECE_ROWS):
        yield csv_lines(_cells(row) for row in rows[start : start + _PIECE_ROWS])


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
        as_text(row["delivery_note"]),
    )
