"""Reads of exceptions."""

from typing import Any, Final
from uuid import UUID

from common.clock import iso, iso_or_none
from common.database import UnitOfWork
from common.http import OffsetPage

_EXCEPTION_COLUMNS: Final = """
SELECT e.id, e.payout_id, e.batch_id, e.vendor_id, e.cause, e.severity, e.status, e.detail, e.amount, e.respond_by, e.opened_at,
       e.closed_at, e.closed_because
FROM payout_exceptions AS e
"""
_FIND_EXCEPTION: Final = _EXCEPTION_COLUMNS + "WHERE e.id = $1"
_EXCEPTION_FILTER: Final = "WHERE ($1::text IS NULL OR e.status = $1) AND ($2::text IS NULL OR e.severity = $2)"
_COUNT_EXCEPTIONS: Final = f"SELECT count(*) FROM payout_exceptions AS e {_EXCEPTION_FILTER}"
# "SEV-1" is the highest severity and the lowest text: descending by severity means the worst first.
_EXCEPTION_ORDERS: Final = {
    ("created_at", True): "e.opened_at DESC, e.id DESC",
    ("created_at", False): "e.opened_at ASC, e.id ASC",
    ("severity", True): "e.severity ASC, e.respond_by ASC, e.id ASC",
    ("severity", False): "e.severity DESC, e.respond_by DESC, e.id DESC",
}
_PAGES_OF_EXCEPTIONS: Final = {
    key: f"{_EXCEPTION_COLUMNS} {_EXCEPTION_FILTER} ORDER BY {order} LIMIT $3 OFFSET $4"
    for key, order in _EXCEPTION_ORDERS.items()
}


async def find_exception(uow: UnitOfWork, exception_id: UUID) -> dict[str, Any] | None:
    row = await uow.fetch_row(_FIND_EXCEPTION, exception_id)
    return None if row is None else _exception(row)


async def page_of_exceptions(
    uow: UnitOfWork, page: OffsetPage, status: str | None, severity: str | None
) -> tuple[list[dict[str, Any]], int]:
    """One page and the total, seen by one transaction."""
    total: int = await uow.fetch_value(_COUNT_EXCEPTIONS, status, severity)
    statement = _PAGES_OF_EXCEPTIONS[page.sort, page.descending]
    rows = await uow.fetch(statement, status, severity, page.limit, page.offset)
    return [_exception(row) for row in rows], total


def _exception(row: Any) -> dict[str, Any]:
    return {
        "id": row["id"],
        "payoutId": row["payout_id"],
        "batchId": row["batch_id"],
        "vendorId": row["vendor_id"],
        "cause": row["cause"],
        "severity": row["severity"],
        "status": row["status"],
        "detail": row["detail"],
        "amountMinor": row["amount"],
        "respondBy": iso(row["respond_by"]),
        "openedAt": iso(row["opened_at"]),
        "closedAt": iso_or_none(row["closed_at"]),
        "closedBecause": row["closed_because"],
    }
