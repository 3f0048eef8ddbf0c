"""Take back an unrecorded transfer from its vendor."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from payouts import store
from payouts.domain import accounts
from payouts.domain.returns import LockedPayout
from payouts.domain.wallet import WalletLine, shortfall
from payouts.use_cases.exceptions.close_open_exception import close_open_exception


async def recover_transfer(uow: UnitOfWork, payout: LockedPayout, transfer_id: UUID, now: datetime) -> None:
    """Moves the amount from wallet to gateway cash; what the wallet lacks becomes debt. The payout, locked and checked,
    keeps its status.
    """
    wallet = await store.lock_wallet(uow, payout.vendor_id)
    shortfall_minor = shortfall(wallet.available_minor, payout.amount_minor)
    lines = [WalletLine("recovery", -payout.amount_minor, payout_id=payout.id)]
    if shortfall_minor:
        # The advance comes first, so that no line has a balance below zero.
        lines.insert(0, WalletLine("debt_taken", shortfall_minor, payout_id=payout.id))
    key = f"recovery:{transfer_id}"
    await store.append_lines(uow, payout.vendor_id, key, wallet.available_minor, lines, now)
    await ledger.post(uow, accounts.recovery(transfer_id, payout.vendor_id, payout.amount_minor, shortfall_minor))
    await close_open_exception(uow, payout.id, "The unrecorded transfer was taken back from the wallet.", now)
