"""Keep what identity says of a vendor."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from common.database import UnitOfWork
from common.ids import new_id
from common.telemetry import STALE_NEWS
from contracts.payouts import BankDetailsChanged
from payouts import store
from payouts.domain.bank_accounts import judge_account_name


async def hear_vendor(
    uow: UnitOfWork, vendor_id: UUID, owner_user_id: UUID, legal_name: str, sequence: int, now: datetime
) -> None:
    """Keeps owner and legal name; older news is ignored. Details verified under another legal name lose their verification."""
    if not await store.save_vendor(uow, vendor_id, owner_user_id, legal_name, sequence):
        STALE_NEWS.labels("identity.vendor").inc()
        return
    details = await store.lock_bank_details(uow, vendor_id)
    if details is None or not details.judged.verified:
        return
    judged = judge_account_name(legal_name, details.account_name)
    if not judged.verified:
        await store.save_bank_details(uow, new_id(), replace(details, judged=judged), owner_user_id, now)
        uow.publish(BankDetailsChanged(vendor_id=vendor_id, last4=details.last4, bank_code=details.bank_code))
