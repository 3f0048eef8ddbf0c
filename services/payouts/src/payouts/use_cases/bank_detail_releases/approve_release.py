"""Approve a prepared release: the account's quarantines end for every vendor."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from contracts.payouts import BankDetailsChanged
from payouts.domain.bank_accounts import check_account_name
from payouts.domain.errors import ReleaseStale
from payouts.domain.quarantines import release_hash
from payouts.queries.bank_details import find_legal_name
from payouts.store import bank_detail_releases, bank_details, wallets
from payouts.store.account_numbers import AccountNumbers


async def approve_release(
    uow: UnitOfWork, numbers: AccountNumbers, release_id: UUID, approved_hash: str, by: UUID, now: datetime
) -> None:
    """End the quarantines and verifies the account of each vendor that still has it, in one transaction, once.

    Raises NotFound, the errors of `evaluate_approval`, and ReleaseStale (409): the account was quarantined again.
    """
    found = await bank_detail_releases.find_release(uow, release_id)
    if found is None:
        raise NotFound
    # Wallets in the order of their ids, then the release: two approvals never wait for each other in a circle.
    others = await bank_details.list_other_vendors(uow, found.fingerprint, found.vendor_id)
    vendors = sorted({found.vendor_id, *others})
    for vendor_id in vendors:
        await wallets.lock_wallet(uow, vendor_id)
    prepared = await bank_detail_releases.find_release(uow, release_id, lock=True)
    if prepared is None:
        raise AssertionError("a release is never removed")
    # An approved release ends the quarantines, so they are read before the verdict.
    quarantine_ids = await bank_detail_releases.list_unreleased_quarantines(uow, prepared.fingerprint)
    if not await bank_detail_releases.TABLE.approve(uow, release_id, prepared.decision, approved_hash, by, now):
        return
    if release_hash(prepared.vendor_id, quarantine_ids) != prepared.hash:
        raise ReleaseStale
    for vendor_id in vendors:
        await _restore(uow, numbers, vendor_id, prepared.fingerprint, by, now)


async def _restore(
    uow: UnitOfWork, numbers: AccountNumbers, vendor_id: UUID, fingerprint: str, by: UUID, now: datetime
) -> None:
    """Check the name again: the vendor's legal name may have changed in the meantime."""
    details = await bank_details.lock_bank_details(uow, numbers, vendor_id)
    if details is None or details.quarantine_reason is None or details.number.fingerprint != fingerprint:
        return
    name_check = check_account_name(await find_legal_name(uow, vendor_id) or "", details.account_name)
    restored = replace(details, name_check=name_check, quarantine_reason=None)
    await bank_details.save_bank_details(uow, restored, by, now, change="released")
    uow.publish(
        BankDetailsChanged(
            vendor_id=vendor_id, last4=details.last4, bank_code=details.bank_code, verified=name_check.verified
        )
    )
