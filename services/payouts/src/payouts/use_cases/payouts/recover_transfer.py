"""Recover an unrecorded transfer from its vendor."""

from datetime import datetime
from functools import partial
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payouts import store
from payouts.domain import accounts
from payouts.domain.returns import LockedPayout
from payouts.domain.wallet import WalletLine
from payouts.use_cases.exceptions.close_open_exception import close_open_exception
from payouts.use_cases.wallets.debit_wallet import debit_wallet


async def recover_transfer(uow: UnitOfWork, payout: LockedPayout, transfer_id: UUID, now: datetime) -> None:
    """Moves the amount from wallet to gateway cash; what the wallet lacks becomes debt. The payout, locked and checked,
    keeps its status.
    """
    wallet = await store.lock_wallet(uow, payout.vendor_id)
    line = WalletLine("recovery", -payout.amount_minor, payout_id=payout.id)
    posting_of = partial(accounts.recovery, transfer_id, payout.vendor_id, payout.amount_minor)
    await debit_wallet(uow, payout.vendor_id, wallet, f"recovery:{transfer_id}", line, posting_of, now)
    await close_open_exception(uow, payout.id, "The unrecorded transfer was taken back from the wallet.", now)
