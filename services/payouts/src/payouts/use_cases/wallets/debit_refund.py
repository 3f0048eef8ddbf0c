"""Debit a refund after release from the vendor's wallet."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from payouts import store
from payouts.domain import accounts
from payouts.domain.errors import ReleaseContradicts
from payouts.domain.wallet import Refund, WalletLine, shortfall


async def debit_refund(uow: UnitOfWork, refunded: Refund, now: datetime, *, is_proven: bool = False) -> None:
    """Posts the vendor's part once, by the refund's id; what the wallet lacks becomes debt. Raises ReleaseContradicts.

    A signed refund never contradicts, as with a release.
    """
    if refunded.from_vendor_minor == 0:
        return
    vendor_id, key = refunded.vendor_id, f"refund:{refunded.id}"
    wallet = await store.lock_wallet(uow, vendor_id)
    before = await store.find_line_net(uow, key, "refund")
    if before is not None:
        if before != -refunded.from_vendor_minor and not is_proven:
            raise ReleaseContradicts(key)
        return
    shortfall_minor = shortfall(wallet.available_minor, refunded.from_vendor_minor)
    lines = [
        WalletLine(
            "refund", -refunded.from_vendor_minor, order_id=refunded.order_id, gross_minor=-refunded.amount_minor
        )
    ]
    if shortfall_minor:
        # The advance comes first, so that no line has a balance below zero.
        lines.insert(0, WalletLine("debt_taken", shortfall_minor, order_id=refunded.order_id))
    await store.append_lines(uow, vendor_id, key, wallet.available_minor, lines, now)
    await ledger.post(uow, accounts.refund(key, vendor_id, refunded.from_vendor_minor, shortfall_minor))
