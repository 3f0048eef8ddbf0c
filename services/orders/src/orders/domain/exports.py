"""The CSV export of orders for staff."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from common.primitives.clock import iso, iso_or_none
from common.web.csv_export import csv_head, csv_lines

# A spreadsheet opens this many rows well; a longer period is exported in parts.
EXPORT_ROWS_MAX: Final = 10_000
# Some milliseconds of work, so that other requests run between two chunks.
_CHUNK_ROWS: Final = 200
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
    "number",
)


class ExportedOrder(NamedTuple):
    """A row of the export, in the order of its columns; amounts in kobo."""

    id: UUID
    status: str
    campus_id: UUID
    vendor_id: UUID
    buyer_id: UUID
    hub_id: UUID | None
    currency: str
    total_minor: int
    subtotal_minor: int
    delivery_fee_minor: int
    commission_minor: int
    refunded_minor: int
    created_at: datetime
    updated_at: datetime
    delivered_at: datetime | None
    delivery_note: str | None
    number: str


def csv_of_orders(orders: Sequence[ExportedOrder]) -> Iterator[str]:
    """Yield the file in chunks."""
    yield csv_head(_COLUMNS)
    for start in range(0, len(orders), _CHUNK_ROWS):
        yield csv_lines(_cells(order) for order in orders[start : start + _CHUNK_ROWS])


def _cells(order: ExportedOrder) -> Sequence[object]:
    *plain, created_at, updated_at, delivered_at, note, number = order
    return (*plain, iso(created_at), iso(updated_at), iso_or_none(delivered_at), note, number)
