"""Record the opening or the decision of a chargeback (contract sections 6 to 8)."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger.posting import Posting
from payouts.domain import accounts
from payouts.domain.chargebacks import ChargebackUpdate
from payouts.domain.errors import ChargebackLossNotReceived
from payouts.domain.wallet import WalletLine
from payouts.store import chargebacks, wallets
from payouts.use_cases.wallets.steps import adjust_holds, build_order_line, credit_wallet, debit_wallet


async def record_chargeback(uow: UnitOfWork, update: ChargebackUpdate, sequence: int, now: datetime) -> bool:
    """Record a chargeback. Opened: holds the amount. Won: releases the hold. Lost: debits the amount; the wallet's
    shortfall becomes debt.

    An event older than the last holds and releases nothing. A loss is still debited and its reversal credited, once:
    payments has posted them, whatever came after. Returns whether the event is the newest. Raises
    ChargebackLossNotReceived.
    """
    # The vendor's wallet's lock orders every change of a chargeback.
    await wallets.lock_wallet(uow, update.vendor_id)
    known = await chargebacks.find_chargeback(uow, update.id)
    if any(update.won) and (known is None or known.status == "opened"):
        raise ChargebackLossNotReceived(f"chargeback {update.id} is won, and its loss has not been received")
    key = f"chargeback:{update.id}:{sequence}"
    if known is not None and known.sequence >= sequence:
        await _debit_if_new(uow, update, key, now)
        await _credit_if_new(uow, update, key, now)
        return False
    await chargebacks.save_chargeback(uow, known, update, sequence)
    if known is not None and known.held_minor:
        line = WalletLine("hold_released", known.held_minor, update.order_id)
        await _credit(uow, update, f"{key}:held", line, accounts.hold_released, now)
    await _debit_if_new(uow, update, key, now)
    await _credit_if_new(uow, update, key, now)
    await adjust_holds(uow, update.vendor_id, str(sequence), now)
    return True


async def _credit(
    uow: UnitOfWork,
    update: ChargebackUpdate,
    key: str,
    line: WalletLine,
    posting_of: Callable[[str, UUID, int, int], Posting],
    now: datetime,
) -> None:
    wallet = await wallets.lock_wallet(uow, update.vendor_id)
    posting = partial(posting_of, key, update.vendor_id, line.net_minor)
    await credit_wallet(uow, update.vendor_id, wallet, key, line, posting, now)


async def _credit_if_new(uow: UnitOfWork, update: ChargebackUpdate, key: str, now: datetime) -> None:
    if not any(update.won) or await wallets.find_line_net(uow, key, "chargeback_won") is not None:
        return
    line = await build_order_line(uow, "chargeback_won", update.vendor_id, update.order_id, update.won)
    await _credit(uow, update, key, line, accounts.chargeback_won, now)


async def _debit_if_new(uow: UnitOfWork, update: ChargebackUpdate, key: str, now: datetime) -> None:
    if not any(update.lost) or await wallets.find_line_net(uow, key, "chargeback") is not None:
        return
    wallet = await wallets.lock_wallet(uow, update.vendor_id)
    line = await build_order_line(uow, "chargeback", update.vendor_id, update.order_id, update.lost.negated())
    posting = partial(accounts.chargeback, key, update.vendor_id, update.lost.net_minor)
    await debit_wallet(uow, update.vendor_id, wallet, key, line, posting, now)
