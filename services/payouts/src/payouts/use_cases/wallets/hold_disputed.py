"""Hold a disputed amount in the wallet, as far as escrow does not cover it."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from payouts import store
from payouts.domain import accounts
from payouts.domain.chargebacks import allocate_holds
from payouts.domain.wallet import WalletLine
from payouts.store import chargebacks


async def hold_disputed(uow: UnitOfWork, vendor_id: UUID, order_id: UUID, cause: str, now: datetime) -> None:
    """Calculated again after each event of the order; `cause` names the event, so that each hold has its own key."""
    opened = await chargebacks.list_open_chargebacks(uow, order_id)
    if not opened:
        return
    wallet = await store.lock_wallet(uow, vendor_id)
    available_minor = wallet.available_minor
    remaining_minor = await chargebacks.find_remaining_share(uow, order_id)
    credited_minor = await chargebacks.sum_credited(uow, vendor_id, order_id)
    holds = allocate_holds(opened, remaining_minor, credited_minor, available_minor)
    for chargeback_id, amount_minor in holds.items():
        key = f"chargeback_hold:{chargeback_id}:{cause}"
        await ledger.post(uow, accounts.hold(key, vendor_id, amount_minor))
        line = WalletLine("hold", -amount_minor, order_id=order_id)
        await store.append_lines(uow, vendor_id, key, available_minor, [line], now)
        await chargebacks.add_hold(uow, chargeback_id, amount_minor)
        available_minor -= amount_minor
