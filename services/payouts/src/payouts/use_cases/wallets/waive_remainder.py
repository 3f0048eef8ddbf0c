"""Give up a remainder that is smaller than the smallest transfer."""

from datetime import datetime
from functools import partial
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from payouts.domain import accounts
from payouts.domain.wallet import WalletLine, check_waiver
from payouts.store import erasure, wallets
from payouts.use_cases.wallets.steps import debit_wallet


async def waive_remainder(
    uow: UnitOfWork, vendor_id: UUID, amount_minor: int, minimum_minor: int, now: datetime
) -> None:
    """Move the whole remainder, which the vendor names exactly, from the wallet to the platform (decision 46).

    Raises WaiverNotWholeRemainder (422), VendorSuspended, RemainderPayable and WalletUnsettled (409).
    """
    wallet = await wallets.lock_wallet(uow, vendor_id)
    check_waiver(wallet, await erasure.list_open_matters(uow, vendor_id, minimum_minor), amount_minor, minimum_minor)
    key = f"waiver:{new_id()}"
    posting_of = partial(accounts.waiver, key, vendor_id, amount_minor)
    await debit_wallet(uow, vendor_id, wallet, key, WalletLine("waiver", -amount_minor), posting_of, now)
