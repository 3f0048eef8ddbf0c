"""SQL for writes to releases of quarantined accounts. Nothing here decides."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.decisions import DecisionTable
from common.database.unit_of_work import UnitOfWork
from common.primitives.decisions import DecisionStatus, PreparedDecision

_FIND_ACCOUNT: Final = """
SELECT account_fingerprint FROM bank_detail_quarantines WHERE vendor_id = $1 AND NOT quarantine_is_released(id)
ORDER BY quarantined_at DESC, id DESC LIMIT 1
"""
_LIST_QUARANTINES: Final = """
SELECT id FROM bank_detail_quarantines WHERE account_fingerprint = $1 AND NOT quarantine_is_released(id) ORDER BY id
"""
_SAVE: Final = """
INSERT INTO bank_detail_releases (id, vendor_id, account_fingerprint, quarantine_ids, status, reason, hash, prepared_by,
    prepared_at)
VALUES ($1, $2, $3, $4, 'prepared', $5, $6, $7, $8)
ON CONFLICT (account_fingerprint) WHERE status = 'prepared' DO NOTHING
"""
_FIND: Final = (
    "SELECT vendor_id, account_fingerprint, status, hash, prepared_by FROM bank_detail_releases WHERE id = $1"
)
_LOCK: Final = f"{_FIND} FOR UPDATE"
TABLE: Final = DecisionTable("bank_detail_releases")


@dataclass(frozen=True, slots=True)
class BankDetailRelease:
    """A prepared release, as far as its decision needs it."""

    id: UUID
    vendor_id: UUID
    fingerprint: str
    status: DecisionStatus
    hash: str
    prepared_by: UUID

    @property
    def decision(self) -> PreparedDecision:
        return PreparedDecision(self.status, self.prepared_by, self.hash)


async def find_quarantined_account(uow: UnitOfWork, vendor_id: UUID) -> str | None:
    """Return the fingerprint of the account that the vendor's newest unreleased quarantine stops."""
    fingerprint: str | None = await uow.fetch_value(_FIND_ACCOUNT, vendor_id)
    return fingerprint


async def list_unreleased_quarantines(uow: UnitOfWork, fingerprint: str) -> list[UUID]:
    """Return the quarantines of the account, of all vendors, that still hold."""
    return [row["id"] for row in await uow.fetch(_LIST_QUARANTINES, fingerprint)]


async def save_release_if_new(
    uow: UnitOfWork, release: BankDetailRelease, quarantine_ids: list[UUID], reason: str, at: datetime
) -> bool:
    """Save it; False when the account has a prepared one already."""
    account = (release.id, release.vendor_id, release.fingerprint, quarantine_ids)
    return await uow.execute(_SAVE, *account, reason, release.hash, release.prepared_by, at) == 1


async def find_release(uow: UnitOfWork, release_id: UUID, *, lock: bool = False) -> BankDetailRelease | None:
    row = await uow.fetch_row(_LOCK if lock else _FIND, release_id)
    return None if row is None else BankDetailRelease(release_id, *row)
