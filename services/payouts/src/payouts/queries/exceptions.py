"""Reads of exceptions and their history."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.web.pages import Found, OffsetPage
from payouts.responses.exceptions import ExceptionAction, PayoutException, PayoutExceptionDetail

_EXCEPTION_COLUMNS: Final = """
SELECT e.id, e.payout_id, e.batch_id, e.vendor_id, e.cause, e.severity, e.status, e.detail, e.amount AS amount_minor,
       e.respond_by, e.opened_at, e.closed_at, e.closed_because, p.number AS payout_number,
       nullif(seller.legal_name, '') AS vendor_name
FROM payout_exceptions AS e LEFT JOIN payout_requests AS p ON p.id = e.payout_id
LEFT JOIN vendors AS seller ON seller.id = e.vendor_id
"""
_FIND_EXCEPTION: Final = """
SELECT e.id, e.payout_id, e.batch_id, e.vendor_id, e.cause, e.severity, e.status, e.detail, e.amount AS amount_minor,
       e.respond_by, e.opened_at, e.closed_at, e.closed_because, t.id AS transfer__id, t.attempt AS transfer__attempt,
       t.reference AS transfer__reference, t.status AS transfer__status, t.transfer_code AS transfer__transfer_code,
       p.number AS payout_number, nullif(seller.legal_name, '') AS vendor_name
FROM payout_exceptions AS e LEFT JOIN payout_requests AS p ON p.id = e.payout_id
LEFT JOIN payout_transfers AS t ON t.id = e.transfer_id
LEFT JOIN vendors AS seller ON seller.id = e.vendor_id
WHERE e.id = $1
"""
_LIST_ACTIONS: Final = """
SELECT id, kind, acted_by AS by, acted_at AS at, severity_before, severity_after, cause_before, cause_after, note
FROM payout_exception_acts WHERE exception_id = $1 ORDER BY position
"""
_EXCEPTION_FILTER: Final = """
WHERE ($1::text IS NULL OR e.status = $1) AND ($2::text IS NULL OR e.severity = $2)
    AND ($3::text IS NULL OR e.cause = $3)
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


async def find_exception(uow: UnitOfWork, exception_id: UUID) -> PayoutExceptionDetail | None:
    """Return one exception with its attempt and its history."""
    row = await uow.fetch_row(_FIND_EXCEPTION, exception_id)
    if row is None:
        return None
    actions = await uow.fetch(_LIST_ACTIONS, exception_id)
    return PayoutExceptionDetail.from_row(row, acts=[ExceptionAction.from_row(action) for action in actions])


async def page_of_exceptions(uow: UnitOfWork, page: OffsetPage, narrowed: ExceptionFilter) -> Found[PayoutException]:
    """Return one page and the total, both from one transaction."""
    filters = (narrowed.status, narrowed.severity, narrowed.cause, narrowed.vendor_id, narrowed.payout_id)
    total: int = await uow.fetch_value(_COUNT_EXCEPTIONS, *filters)
    statement = _PAGES_OF_EXCEPTIONS[page.sort, page.descending]
    rows = await uow.fetch(statement, *filters, page.limit, page.offset)
    return [PayoutException.from_row(row) for row in rows], total
