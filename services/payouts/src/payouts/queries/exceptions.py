"""Reads of exceptions and their history."""

from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso, iso_or_none
from common.web.http import OffsetPage

_EXCEPTION_COLUMNS: Final = """
SELECT e.id, e.payout_id, e.batch_id, e.vendor_id, e.cause, e.severity, e.status, e.detail, e.amount, e.respond_by, e.opened_at,
       e.closed_at, e.closed_because
FROM payout_exceptions AS e
"""
_FIND_EXCEPTION: Final = """
SELECT e.id, e.payout_id, e.batch_id, e.vendor_id, e.cause, e.severity, e.status, e.detail, e.amount, e.respond_by, e.opened_at,
       e.closed_at, e.closed_because, t.id AS transfer_id, t.attempt, t.reference, t.status AS transfer_status, t.transfer_code
FROM payout_exceptions AS e LEFT JOIN payout_transfers AS t ON t.id = e.transfer_id
WHERE e.id = $1
"""
_LIST_ACTIONS: Final = """
SELECT id, kind, acted_by, severity_before, severity_after, cause_before, cause_after, note, acted_at
FROM payout_exception_acts WHERE exception_id = $1 ORDER BY position
"""
_EXCEPTION_FILTER: Final = """
WHERE ($1::text IS NULL OR e.status = $1) AND ($2::text IS NULL OR e.severity = $2) AND ($3::text IS NULL OR e.cause = $3)
  AND ($4::uuid IS NULL OR e.vendor_id = $4) AND ($5::uuid IS NULL OR e.payout_id = $5)
"""
_COUNT_EXCEPTIONS: Final = f"SELECT count(*) FROM payout_exceptions AS e {_EXCEPTION_FILTER}"
# "SEV-1" is the highest severity and the lowest text: descending by severity means the worst first.
_EXCEPTION_ORDERS: Final = {
    ("created_at", True): "e.opened_at DESC, e.id DESC",
    ("created_at", False): "e.opened_at ASC, e.id ASC",
    ("severity", True): "e.severity ASC, e.respond_by ASC, e.id ASC",
    ("severity", False): "e.severity DESC, e.respond_by DESC, e.id DESC",
    ("respond_by", True): "e.respond_by DESC, e.id DESC",
    ("respond_by", False): "e.respond_by ASC, e.id ASC",
}
_PAGES_OF_EXCEPTIONS: Final = {
    key: f"{_EXCEPTION_COLUMNS} {_EXCEPTION_FILTER} ORDER BY {order} LIMIT $6 OFFSET $7"
    for key, order in _EXCEPTION_ORDERS.items()
}


@dataclass(frozen=True, slots=True)
class ExceptionFilter:
    """Filters of a list of exceptions; None does not filter."""

    status: str | None = None
    severity: str | None = None
    cause: str | None = None
    vendor_id: UUID | None = None
    payout_id: UUID | None = None


async def find_exception(uow: UnitOfWork, exception_id: UUID) -> dict[str, Any] | None:
    """Returns one exception with its attempt and its history."""
    row = await uow.fetch_row(_FIND_EXCEPTION, exception_id)
    if row is None:
        return None
    actions = await uow.fetch(_LIST_ACTIONS, exception_id)
    return {**_exception(row), "transfer": _transfer(row), "acts": [_action(action) for action in actions]}


async def page_of_exceptions(
    uow: UnitOfWork, page: OffsetPage, narrowed: ExceptionFilter
) -> tuple[list[dict[str, Any]], int]:
    """Returns one page and the total, both from one transaction."""
    filters = (narrowed.status, narrowed.severity, narrowed.cause, narrowed.vendor_id, narrowed.payout_id)
    total: int = await uow.fetch_value(_COUNT_EXCEPTIONS, *filters)
    statement = _PAGES_OF_EXCEPTIONS[page.sort, page.descending]
    rows = await uow.fetch(statement, *filters, page.limit, page.offset)
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


def _transfer(row: Any) -> dict[str, Any] | None:
    if row["transfer_id"] is None:
        return None
    return {
        "id": row["transfer_id"],
        "attempt": row["attempt"],
        "reference": row["reference"],
        "status": row["transfer_status"],
        "transferCode": row["transfer_code"],
    }


def _action(row: Any) -> dict[str, Any]:
    return {
        "id": row["id"],
        "kind": row["kind"],
        "by": row["acted_by"],
        "at": iso(row["acted_at"]),
        "severityBefore": row["severity_before"],
        "severityAfter": row["severity_after"],
        "causeBefore": row["cause_before"],
        "causeAfter": row["cause_after"],
        "note": row["note"],
    }
