"""Reads of reconciliations."""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from common.web.pages import Found, OffsetPage
from payouts.responses.reconciliations import PlannedReturnEntry, Reconciliation

_COLUMNS: Final = """
SELECT r.id, r.payout_id, p.number AS payout_number, p.vendor_id, nullif(seller.legal_name, '') AS vendor_name,
       r.transfer_id, r.kind, r.status, p.amount AS amount_minor, p.currency, r.reason, r.postings, r.hash,
       r.prepared_by, r.prepared_at, r.decided_by, r.decided_at, r.rejection AS rejection_reason
FROM reconciliations AS r JOIN payout_requests AS p ON p.id = r.payout_id
LEFT JOIN vendors AS seller ON seller.id = p.vendor_id
"""
_FILTER: Final = "WHERE ($1::text IS NULL OR r.status = $1) AND ($2::uuid IS NULL OR r.payout_id = $2)"
# No user approves what they prepared.
AWAITING_RECONCILIATION: Final = "r.status = 'prepared' AND r.prepared_by <> (SELECT app_user_id())"
_FIND: Final = f"{_COLUMNS} WHERE r.id = $1"
# Accounts that are not guarded have no running balance: theirs is the sum of their entries.
_BALANCES: Final = """
SELECT named.account, coalesce(
    (SELECT CASE b.side WHEN 'debit' THEN b.balance_minor ELSE -b.balance_minor END FROM ledger_balances b
        WHERE b.account = named.account),
    (SELECT sum(e.amount_minor)::bigint FROM ledger_entries e WHERE e.account = named.account), 0
) AS balance_minor
FROM (SELECT DISTINCT unnest($1::text[]) AS account) AS named
"""
_COUNT: Final = f"SELECT count(*) FROM reconciliations AS r {_FILTER} {{awaiting}}"
_PAGES: Final = {
    descending: f"{_COLUMNS} {_FILTER} {{awaiting}} ORDER BY r.prepared_at {way}, r.id {way} LIMIT $3 OFFSET $4"
    for descending, way in ((True, "DESC"), (False, "ASC"))
}


async def find_reconciliation(uow: UnitOfWork, reconciliation_id: UUID) -> Reconciliation:
    """Raise NotFound."""
    row = await uow.fetch_row(_FIND, reconciliation_id)
    if row is None:
        raise NotFound
    return Reconciliation.from_row(row)


async def list_planned_entries(uow: UnitOfWork, reconciliation_id: UUID) -> list[PlannedReturnEntry]:
    """Return each entry of the postings with the balance of its account now, in kobo, debit positive. Raises
    NotFound.
    """
    reconciliation = await find_reconciliation(uow, reconciliation_id)
    entries = [entry for posting in reconciliation.postings for entry in posting.entries]
    rows = await uow.fetch(_BALANCES, [entry.account for entry in entries])
    balances = {row["account"]: row["balance_minor"] for row in rows}
    return [
        PlannedReturnEntry(
            account=entry.account, amount_minor=entry.amount_minor, balance_minor=balances[entry.account]
        )
        for entry in entries
    ]


async def page_of_reconciliations(
    uow: UnitOfWork, page: OffsetPage, status: str | None, payout_id: UUID | None, *, awaiting_approval: bool = False
) -> Found[Reconciliation]:
    """Return one page, newest first by default, and the total; with `awaiting_approval` those that the caller may
    approve.
    """
    awaiting = f"AND {AWAITING_RECONCILIATION}" if awaiting_approval else ""
    total: int = await uow.fetch_value(_COUNT.format(awaiting=awaiting), status, payout_id)
    statement = _PAGES[page.descending].format(awaiting=awaiting)
    rows = await uow.fetch(statement, status, payout_id, page.limit, page.offset)
    return [Reconciliation.from_row(row) for row in rows], total
