"""Hold what open chargebacks may take from a wallet, and no more."""

from datetime import datetime
from functools import partial
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from payouts import store
from payouts.domain import accounts
from payouts.domain.chargebacks import HoldChange, plan_holds
from payouts.domain.wallet import WalletLine
from payouts.store import chargebacks
from payouts.use_cases.wallets.post_credit import post_credit


async def adjust_holds(uow: UnitOfWork, vendor_id: UUID, cause: str, now: datetime) -> None:
    """Calculate holds again after each credit and each event of a disputed order (contract section 8).

    A refund of the order returns a part of the hold; a later credit of any kind is held up to the amount at stake.
    `cause` names the event, so that each change has its own key. The wallet must be locked.
    """
    for returns_first in (True, False):
        opened = await chargebacks.list_open_chargebacks(uow, vendor_id)
        if not opened:
            return
        wallet = await store.lock_wallet(uow, vendor_id)
        for change in plan_holds(opened, wallet.available_minor):
            if (change.added_minor < 0) == returns_first:
                await _change(uow, vendor_id, change, cause, now)


async def _change(uow: UnitOfWork, vendor_id: UUID, change: HoldChange, cause: str, now: datetime) -> None:
    await chargebacks.change_hold(uow, change)
    wallet = await store.lock_wallet(uow, vendor_id)
    if change.added_minor > 0:
        key = f"chargeback_hold:{change.chargeback_id}:{cause}"
        line = WalletLine("hold", -change.added_minor, change.order_id)
        await store.append_lines(uow, vendor_id, key, wallet.available_minor, [line], now)
        await ledger.post(uow, accounts.hold(key, vendor_id, change.added_minor))
    elif change.added_minor < 0:
        key = f"chargeback_hold_returned:{change.chargeback_id}:{cause}"
        line = WalletLine("hold_released", -change.added_minor, change.order_id)
        posting_of = partial(accounts.hold_released, key, vendor_id, line.net_minor)
        await post_credit(uow, vendor_id, wallet, key, line, posting_of, now)
