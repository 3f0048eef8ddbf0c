"""Reads of payouts."""

from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso, iso_or_none
from common.web.http import OffsetPage

_PAYOUT_COLUMNS: Final = """
SELECT p.id, p.vendor_id, p.amount, p.currency, p.status, p.transfer_reference, p.transfer_code, p.transfer_failure, p.retry_count,
       p.created_at, p.updated_at, p.processed_at, v.last4, v.bank_code,
       t.id AS transfer_id, t.attempt, t.reference, t.status AS transfer_status, t.transfer_code AS attempt_code, t.failure,
       t.created_at AS transfer_created_at, t.updated_at AS transfer_updated_at,
       e.id AS exception_id, e.cause, e.severity, e.respond_by, e.opened_at
FROM payout_requests AS p
JOIN bank_detail_versions AS v ON v.id = p.bank_details_version_id
LEFT JOIN LATERAL (
    SELECT * FROM payout_transfers AS a WHERE a.payout_id = p.id
    ORDER BY a.reference = p.transfer_reference DESC, a.attempt DESC LIMIT 1
) AS t ON true
LEFT JOIN payout_exceptions AS e ON e.payout_id = p.id AND e.status = 'open'
"""
_FIND_PAYOUT: Final = _PAYOUT_COLUMNS + "WHERE p.id = $1"
_PAYOUT_FILTER: Final = "WHERE ($1::text IS NULL OR p.status = $1) AND ($2::uuid IS NULL OR p.vendor_id = $2)"
_COUNT_PAYOUTS: Final = f"SELECT count(*) FROM payout_requests AS p {_PAYOUT_FILTER}"
_PAYOUT_SORTS: Final = {"created_at": "p.created_at", "amount": "p.amount"}
_PAGES_OF_PAYOUTS: Final = {
    (sort, descending): f"{_PAYOUT_COLUMNS} {_PAYOUT_FILTER} ORDER BY {column} {way}, p.id {way} LIMIT $3 OFFSET $4"
    for sort, column in _PAYOUT_SORTS.items()
    for descending, way in ((True, "DESC"), (False, "ASC"))
}


async def find_payout(uow: UnitOfWork, payout_id: UUID) -> dict[str, Any] | None:
    row = await uow.fetch_row(_FIND_PAYOUT, payout_id)
    return None if row is None else _payout(row)


async def page_of_payouts(
    uow: UnitOfWork, page: OffsetPage, status: str | None, vendor_id: UUID | None
) -> tuple[list[dict[str, Any]], int]:
    """Returns one page and the total, both from one transaction."""
    total: int = await uow.fetch_value(_COUNT_PAYOUTS, status, vendor_id)
    statement = _PAGES_OF_PAYOUTS[page.sort, page.descending]
    rows = await uow.fetch(statement, status, vendor_id, page.limit, page.offset)
    return [_payout(row) for row in rows], total


def _payout(row: Any) -> dict[str, Any]:
    return {
        "id": row["id"],
        "vendorId": row["vendor_id"],
        "amountMinor": row["amount"],
        "currency": row["currency"],
        "status": row["status"],
        "bankCode": row["bank_code"],
        "accountLast4": row["last4"],
        "retryCount": row["retry_count"],
        "transferReference": row["transfer_reference"],
        "transferCode": row["transfer_code"],
        "transferFailure": row["transfer_failure"],
        "transfer": _transfer_of(row),
        "openException": _open_exception_of(row),
        "createdAt": iso(row["created_at"]),
        "updatedAt": iso(row["updated_at"]),
        "processedAt": iso_or_none(row["processed_at"]),
    }


def _transfer_of(row: Any) -> dict[str, Any] | None:
    if row["transfer_id"] is None:
        return None
    return {
        "id": row["transfer_id"],
        "attempt": row["attempt"],
        "reference": row["reference"],
        "status": row["transfer_status"],
        "transferCode": row["attempt_code"],
        "failure": row["failure"],
        "createdAt": iso(row["transfer_created_at"]),
        "updatedAt": iso(row["transfer_updated_at"]),
    }


def _open_exception_of(row: Any) -> dict[str, Any] | None:
    if row["exception_id"] is None:
        return None
    return {
        "id": row["exception_id"],
        "cause": row["cause"],
        "severity": row["severity"],
        "respondBy": iso(row["respond_by"]),
        "openedAt": iso(row["opened_at"]),
    }
