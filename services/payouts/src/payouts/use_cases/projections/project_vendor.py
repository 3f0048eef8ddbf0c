"""Project a vendor of identity."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.payouts import BankDetailsChanged
from payouts.domain.bank_accounts import check_account_name
from payouts.store import bank_details, projections, wallets
from payouts.store.account_numbers import AccountNumbers


async def project_vendor(
    uow: UnitOfWork,
    numbers: AccountNumbers,
    vendor_id: UUID,
    owner_user_id: UUID,
    legal_name: str,
    sequence: int,
    now: datetime,
) -> bool:
    """Save owner and legal name; False for an older event, which is ignored.

    Details verified under another legal name become unverified.
    """
    # The lock orders this and a change of the details: neither checks a name or account that the other has replaced.
    await wallets.lock_wallet(uow, vendor_id)
    if not await projections.save_vendor(uow, vendor_id, owner_user_id, legal_name, sequence):
        return False
    details = await bank_details.lock_bank_details(uow, numbers, vendor_id)
    if details is None or not details.name_check.verified:
        return True
    name_check = check_account_name(legal_name, details.account_name)
    if not name_check.verified:
        unverified = replace(details, name_check=name_check)
        await bank_details.save_bank_details(uow, unverified, owner_user_id, now, change="legal_name_changed")
        uow.publish(
            BankDetailsChanged(vendor_id=vendor_id, last4=details.last4, bank_code=details.bank_code, verified=False)
        )
    return True
