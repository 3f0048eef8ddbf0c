"""Prepare the release of a quarantined account."""

from datetime import datetime
from uuid import UUID

from common.database.idempotent_commands import IdempotentCommand, find_command_result, record_command_result
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from payouts.domain.errors import ReleasePrepared
from payouts.domain.quarantines import release_hash
from payouts.store import bank_detail_releases, wallets


async def prepare_release(
    uow: UnitOfWork, vendor_id: UUID, reason: str, by: UUID, now: datetime, command: IdempotentCommand | None = None
) -> UUID:
    """Record which quarantines of the vendor's account end, and their hash; the account stays quarantined.

    A repeated command returns the id of the first. Raises NotFound (no quarantined account), IdempotencyKeyReused (422)
    and ReleasePrepared (409).
    """
    await wallets.lock_wallet(uow, vendor_id)
    if (earlier := await find_command_result(uow, command)) is not None:
        return earlier
    fingerprint = await bank_detail_releases.find_quarantined_account(uow, vendor_id)
    if fingerprint is None:
        raise NotFound
    quarantine_ids = await bank_detail_releases.list_unreleased_quarantines(uow, fingerprint)
    made = bank_detail_releases.BankDetailRelease(
        new_id(), vendor_id, fingerprint, "prepared", release_hash(vendor_id, quarantine_ids), by
    )
    if not await bank_detail_releases.save_release_if_new(uow, made, quarantine_ids, reason, now):
        raise ReleasePrepared
    await record_command_result(uow, command, made.id)
    return made.id
