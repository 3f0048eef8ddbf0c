"""Reads of releases of quarantined accounts."""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from common.web.pages import Found, OffsetPage
from payouts.queries.banks import BANK_NAME, bank_name_of
from payouts.responses.bank_detail_releases import BankDetailQuarantine, BankDetailRelease, BankDetailReleaseDetail

_COLUMNS: Final = f"""
SELECT r.id, r.vendor_id, nullif(seller.legal_name, '') AS vendor_name, v.last4 AS account_last4, v.bank_code,
       {BANK_NAME}, r.status, r.reason, r.hash, r.quarantine_ids, r.prepared_by, r.prepared_at, r.decided_by,
       r.decided_at, r.rejection AS rejection_reason
FROM bank_detail_releases AS r
JOIN bank_detail_quarantines AS q ON q.id = r.quarantine_ids[1] JOIN bank_detail_versions AS v ON v.id = q.version_id
LEFT JOIN vendors AS seller ON seller.id = r.vendor_id
"""
_FILTER: Final = "WHERE ($1::text IS NULL OR r.status = $1) AND ($2::uuid IS NULL OR r.vendor_id = $2)"
# No user approves what they prepared.
AWAITING_RELEASE: Final = "r.status = 'prepared' AND r.prepared_by <> (SELECT app_user_id())"
_FIND: Final = f"{_COLUMNS} WHERE r.id = $1"
_LIST_QUARANTINES: Final = """
SELECT q.id, q.vendor_id, nullif(seller.legal_name, '') AS vendor_name, q.payout_id, p.number AS payout_number,
       q.reason, q.quarantined_by, q.quarantined_at
FROM bank_detail_quarantines AS q LEFT JOIN payout_requests AS p ON p.id = q.payout_id
LEFT JOIN vendors AS seller ON seller.id = q.vendor_id
WHERE q.id = ANY ($1) ORDER BY q.quarantined_at, q.id
"""
_COUNT: Final = f"SELECT count(*) FROM bank_detail_releases AS r {_FILTER} {{awaiting}}"
_PAGES: Final = {
    descending: f"{_COLUMNS} {_FILTER} {{awaiting}} ORDER BY r.prepared_at {way}, r.id {way} LIMIT $3 OFFSET $4"
    for descending, way in ((True, "DESC"), (False, "ASC"))
}


async def find_release(uow: UnitOfWork, release_id: UUID) -> BankDetailReleaseDetail:
    """Return the release with the quarantines that it ends. Raises NotFound."""
    row = await uow.fetch_row(_FIND, release_id)
    if row is None:
        raise NotFound
    quarantines = await uow.fetch(_LIST_QUARANTINES, row["quarantine_ids"])
    return BankDetailReleaseDetail.from_row(
        row, bank_name=bank_name_of(row), quarantines=[BankDetailQuarantine.from_row(each) for each in quarantines]
    )


async def page_of_releases(
    uow: UnitOfWork, page: OffsetPage, status: str | None, vendor_id: UUID | None, *, awaiting_approval: bool = False
) -> Found[BankDetailRelease]:
    """Return one page, newest first by default, and the total; with `awaiting_approval` those that the caller may
    approve.
    """
    awaiting = f"AND {AWAITING_RELEASE}" if awaiting_approval else ""
    total: int = await uow.fetch_value(_COUNT.format(awaiting=awaiting), status, vendor_id)
    statement = _PAGES[page.descending].format(awaiting=awaiting)
    rows = await uow.fetch(statement, status, vendor_id, page.limit, page.offset)
    return [BankDetailRelease.from_row(row, bank_name=bank_name_of(row)) for row in rows], total
