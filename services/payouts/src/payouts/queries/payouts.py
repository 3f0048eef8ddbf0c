"""Reads of payouts."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import Reads, UnitOfWork
from common.primitives.public_numbers import NumberKind, read_numbers_or_id
from common.standard_endpoints.pending_work import COUNT_MAX
from common.web.pages import Found, OffsetPage
from common.web.response_models import Row
from payouts.queries.banks import BANK_NAME, bank_name_of
from payouts.responses.payouts import Payout
from payouts.store.payouts import READY

# A page is chosen before its rows are completed: `{payouts}` is the table, or the rows of a page.
_PAYOUT_COLUMNS: Final = f"""
SELECT p.id, p.number, p.vendor_id, nullif(seller.legal_name, '') AS vendor_name, p.amount AS amount_minor, p.currency,
       p.status, v.bank_code, {BANK_NAME}, v.last4 AS account_last4, v.account_name, p.retry_count,
       p.transfer_reference, p.transfer_code, p.transfer_failure, p.created_at, p.updated_at, p.processed_at,
       t.id AS transfer__id, t.attempt AS transfer__attempt, t.reference AS transfer__reference,
       t.status AS transfer__status, t.transfer_code AS transfer__transfer_code, t.failure AS transfer__failure,
       t.created_at AS transfer__created_at, t.updated_at AS transfer__updated_at,
       e.id AS open_exception__id, e.cause AS open_exception__cause, e.detail AS open_exception__detail,
       e.severity AS open_exception__severity, e.respond_by AS open_exception__respond_by,
       e.opened_at AS open_exception__opened_at, kept.id AS hold__id, kept.reason AS hold__reason,
       kept.held_at AS hold__held_at, coalesce(back.reported_at, credit.at) AS reversal__at,
       credit.at AS reversal__credited_at
FROM {{payouts}} AS p
JOIN bank_detail_versions AS v ON v.id = p.bank_details_version_id
LEFT JOIN vendors AS seller ON seller.id = p.vendor_id
LEFT JOIN LATERAL (
    SELECT * FROM payout_transfers AS a WHERE a.payout_id = p.id
    ORDER BY a.reference = p.transfer_reference DESC, a.attempt DESC LIMIT 1
) AS t ON true
LEFT JOIN payout_exceptions AS e ON e.payout_id = p.id AND e.status = 'open'
LEFT JOIN payout_holds AS kept ON kept.payout_id = p.id AND kept.status = 'held'
LEFT JOIN LATERAL (SELECT transfer_returned_at(t.id) AS reported_at) AS back ON p.status = 'processed'
LEFT JOIN wallet_lines AS credit ON credit.payout_id = p.id AND credit.kind = 'reversal'
"""
_FIND_PAYOUT: Final = f"{_PAYOUT_COLUMNS.format(payouts='payout_requests')} WHERE p.id = $1"
_FIND_BY_ID: Final = "SELECT id FROM payout_requests WHERE id = $1"
_FIND_BY_NUMBERS: Final = "SELECT id FROM payout_requests WHERE number BETWEEN $1 AND $2 LIMIT 100"
_PAYOUT_FILTER: Final = """
WHERE ($1::text IS NULL OR p.status = $1) AND ($2::uuid IS NULL OR p.vendor_id = $2)
  AND ($3::uuid[] IS NULL OR p.id = ANY ($3))
  AND ($4::text IS NULL OR p.vendor_id IN (SELECT id FROM vendors WHERE strpos(lower(legal_name), lower($4)) > 0))
  AND ($5::timestamptz IS NULL OR p.created_at >= $5) AND ($6::timestamptz IS NULL OR p.created_at < $6)
  AND ($7::text IS NULL OR p.id IN (SELECT payout_id FROM payout_transfers WHERE reference = $7 OR transfer_code = $7))
  AND ($8::uuid IS NULL OR p.id IN (SELECT payout_id FROM payout_transfers WHERE batch_id = $8))
  AND ($9::uuid IS NULL OR p.vendor_id IN (SELECT id FROM vendors WHERE owner_user_id = $9))
"""
_LIST_READY: Final = f"SELECT p.id {READY} ORDER BY p.created_at, p.id LIMIT {COUNT_MAX}"
_COUNT_PAYOUTS: Final = f"SELECT count(*) FROM payout_requests AS p {_PAYOUT_FILTER}"
_PAYOUT_SORTS: Final = {"created_at": "p.created_at", "amount": "p.amount"}


def _page(column: str, way: str) -> str:
    order = f"ORDER BY {column} {way}, p.id {way}"
    chosen = f"(SELECT p.* FROM payout_requests AS p {_PAYOUT_FILTER} {order} LIMIT $10 OFFSET $11)"
    return f"{_PAYOUT_COLUMNS.format(payouts=chosen)} {order}"


_PAGES_OF_PAYOUTS: Final = {
    (sort, descending): _page(column, "DESC" if descending else "ASC")
    for sort, column in _PAYOUT_SORTS.items()
    for descending in (True, False)
}


@dataclass(frozen=True, slots=True)
class PayoutFilter:
    """The filters of payouts, in the order of the statement; None: any."""

    status: str | None = None
    vendor_id: UUID | None = None
    # The payouts to choose from.
    only: Sequence[UUID] | None = None
    # A part of the vendor's legal name.
    vendor_name: str | None = None
    created_from: datetime | None = None
    created_before: datetime | None = None
    # The reference or the code of a transfer of it.
    reference: str | None = None
    batch_id: UUID | None = None
    # The owner of the vendor.
    owner_id: UUID | None = None


async def find_payout(reads: Reads, payout_id: UUID) -> Payout | None:
    row = await reads.fetch_row(_FIND_PAYOUT, payout_id)
    return None if row is None else _payout_of(row)


async def list_ready(uow: UnitOfWork, now: datetime) -> list[UUID]:
    """Return the payouts that a dispatch would send now, oldest first. Callers may not read all that decides it."""
    return [row["id"] for row in await uow.fetch(_LIST_READY, now)]


async def list_named(uow: UnitOfWork, number: str) -> list[UUID]:
    """Return the visible payouts with this id, number or beginning of one, as a user typed it."""
    named = read_numbers_or_id(number, NumberKind.PAYOUT)
    if named is None:
        return []
    found = uow.fetch(_FIND_BY_ID, named) if isinstance(named, UUID) else uow.fetch(_FIND_BY_NUMBERS, *named)
    return [row["id"] for row in await found]


async def page_of_payouts(uow: UnitOfWork, page: OffsetPage, chosen: PayoutFilter) -> Found[Payout]:
    """Return one page and the total, both from one transaction."""
    values = astuple(chosen)
    total: int = await uow.fetch_value(_COUNT_PAYOUTS, *values)
    rows = await uow.fetch(_PAGES_OF_PAYOUTS[page.sort, page.descending], *values, page.limit, page.offset)
    return [_payout_of(row) for row in rows], total


def _payout_of(row: Row) -> Payout:
    # `add_arrivals` completes it.
    return Payout.from_row(row, bank_name=bank_name_of(row), arrival=None)
