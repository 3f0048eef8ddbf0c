"""Recover an unrecorded transfer from its vendor."""

from datetime import datetime
from functools import partial
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from payouts import store
from payouts.domain import accounts
from payouts.domain.accounts import Recovery
from payouts.domain.returns import LockedPayout
from payouts.domain.wallet import WalletLine
from payouts.store import returns
from payouts.use_cases.exceptions.close_open_exception import close_open_exception
from payouts.use_cases.wallets.debit_wallet import debit_wallet


async def recover_transfer(
    uow: UnitOfWork, payout: LockedPayout, recovery: Recovery, hold_id: UUID | None, now: datetime
) -> None:
    """Move the amount from its hold to gateway cash; without a hold from the wallet, and its shortfall becomes debt.
    The payout, locked and checked, keeps its status.
    """
    key, amount_minor = f"recovery:{recovery}", payout.amount_minor
    wallet = await store.lock_wallet(uow, payout.vendor_id)
    line = WalletLine("recovery", -amount_minor, payout_id=payout.id)
    if hold_id is None:
        posting_of = partial(accounts.recovery, recovery, payout.vendor_id, amount_minor)
        await debit_wallet(uow, payout.vendor_id, wallet, key, line, posting_of, now)
    else:
        await returns.end_hold(uow, hold_id, "recovered", now)
        lines = [WalletLine("hold_released", amount_minor, payout_id=payout.id), line]
        await store.append_lines(uow, payout.vendor_id, key, wallet.available_minor, lines, now)
        await ledger.post(uow, accounts.recovery_of_hold(recovery, payout.vendor_id, amount_minor))
    await close_open_exception(uow, payout.id, "The unrecorded transfer was taken back from the wallet.", now)
