"""Debit a refund after release from the vendor's wallet."""

from datetime import datetime
from functools import partial

from common.database.unit_of_work import UnitOfWork
from payouts.domain import accounts
from payouts.domain.errors import ReleaseContradicts
from payouts.domain.wallet import Refund, WalletSnapshot
from payouts.store import wallets
from payouts.use_cases.wallets.steps import adjust_holds, build_order_line, debit_wallet


async def debit_refund(uow: UnitOfWork, refunded: Refund, now: datetime, *, is_proven: bool = False) -> None:
    """Post the vendor's part once, by the refund's id; what the wallet lacks becomes debt. An open chargeback of the
    order then holds less. Raises ReleaseContradicts.

    A signed refund never contradicts, as with a release. One that takes back only commission or delivery fee has a line
    of net 0, so that the lines of the order add up.
    """
    key = f"refund:{refunded.id}"
    wallet = await wallets.lock_wallet(uow, refunded.vendor_id)
    if any(refunded.reversed):
        before = await wallets.find_line_net(uow, key, "refund")
        if before is None:
            await _debit(uow, refunded, wallet, key, now)
        elif before != -refunded.reversed.net_minor and not is_proven:
            raise ReleaseContradicts(key)
    await adjust_holds(uow, refunded.vendor_id, key, now)


async def _debit(uow: UnitOfWork, refunded: Refund, wallet: WalletSnapshot, key: str, now: datetime) -> None:
    vendor_id, reversal = refunded.vendor_id, refunded.reversed
    line = await build_order_line(uow, "refund", vendor_id, refunded.order_id, reversal.negated())
    posting_of = partial(accounts.refund, key, vendor_id, reversal.net_minor)
    await debit_wallet(uow, vendor_id, wallet, key, line, posting_of, now)
