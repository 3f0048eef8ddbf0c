"""Record the opening or the decision of a chargeback (contract sections 6 to 8)."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from common.observability.telemetry import STALE_EVENTS
from payouts import store
from payouts.domain import accounts
from payouts.domain.chargebacks import ChargebackUpdate
from payouts.domain.errors import ChargebackLossNotReceived
from payouts.domain.wallet import WalletLine, repayment, shortfall
from payouts.store import chargebacks
from payouts.use_cases.wallets.hold_disputed import hold_disputed


async def record_chargeback(uow: UnitOfWork, update: ChargebackUpdate, sequence: int, now: datetime) -> None:
    """Opened: holds the amount. Won: releases the hold. Lost: debits the amount; what the wallet lacks becomes debt.

    An event older than the last holds and releases nothing. A loss is still debited, once: payments has posted it,
    whatever came after. Raises ChargebackLossNotReceived.
    """
    # The vendor's wallet's lock orders every change of a chargeback.
    await store.lock_wallet(uow, update.vendor_id)
    known = await chargebacks.find_chargeback(uow, update.id)
    if update.to_vendor_minor and (known is None or known.status == "opened"):
        raise ChargebackLossNotReceived(f"chargeback {update.id} is won, and its loss has not been received")
    key = f"chargeback:{update.id}:{sequence}"
    if not await chargebacks.save_chargeback(uow, update, sequence):
        STALE_EVENTS.labels("payments.charge_disputed").inc()
        await _debit_if_new(uow, update, key, now)
        return
    if update.status == "opened":
        await hold_disputed(uow, update.vendor_id, update.order_id, str(sequence), now)
        return
    if known is not None and known.held_minor:
        await _release_hold(uow, update, f"{key}:held", known.held_minor, now)
    await _debit_if_new(uow, update, key, now)
    if update.to_vendor_minor:
        await _credit_won(uow, update, key, now)


async def _release_hold(uow: UnitOfWork, update: ChargebackUpdate, key: str, held_minor: int, now: datetime) -> None:
    wallet = await store.lock_wallet(uow, update.vendor_id)
    repaid_minor = repayment(wallet.debt_minor, held_minor)
    lines = [WalletLine("hold_released", held_minor, order_id=update.order_id)]
    if repaid_minor:
        lines.append(WalletLine("debt_repaid", -repaid_minor, order_id=update.order_id))
    await store.append_lines(uow, update.vendor_id, key, wallet.available_minor, lines, now)
    await ledger.post(uow, accounts.hold_released(key, update.vendor_id, held_minor, repaid_minor))


async def _debit_if_new(uow: UnitOfWork, update: ChargebackUpdate, key: str, now: datetime) -> None:
    if not update.from_vendor_minor or await store.find_line_net(uow, key, "chargeback") is not None:
        return
    wallet = await store.lock_wallet(uow, update.vendor_id)
    shortfall_minor = shortfall(wallet.available_minor, update.from_vendor_minor)
    lines = [WalletLine("chargeback", -update.from_vendor_minor, order_id=update.order_id)]
    if shortfall_minor:
        # The advance comes first, so that no line has a balance below zero.
        lines.insert(0, WalletLine("debt_taken", shortfall_minor, order_id=update.order_id))
    await store.append_lines(uow, update.vendor_id, key, wallet.available_minor, lines, now)
    await ledger.post(uow, accounts.chargeback(key, update.vendor_id, update.from_vendor_minor, shortfall_minor))


async def _credit_won(uow: UnitOfWork, update: ChargebackUpdate, key: str, now: datetime) -> None:
    wallet = await store.lock_wallet(uow, update.vendor_id)
    repaid_minor = repayment(wallet.debt_minor, update.to_vendor_minor)
    lines = [WalletLine("chargeback_won", update.to_vendor_minor, order_id=update.order_id)]
    if repaid_minor:
        lines.append(WalletLine("debt_repaid", -repaid_minor, order_id=update.order_id))
    await store.append_lines(uow, update.vendor_id, key, wallet.available_minor, lines, now)
    await ledger.post(uow, accounts.chargeback_won(key, update.vendor_id, update.to_vendor_minor, repaid_minor))
