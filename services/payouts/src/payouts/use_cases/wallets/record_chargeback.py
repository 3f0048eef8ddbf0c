"""A bank disputes a charge, or the gateway has decided (contract sections 6 to 8)."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from common.observability.telemetry import STALE_EVENTS
from payouts import store
from payouts.domain import accounts
from payouts.domain.chargebacks import ChargebackUpdate
from payouts.domain.errors import LossUnheardOf
from payouts.domain.wallet import Line, repayment, shortfall
from payouts.store import chargebacks
from payouts.use_cases.wallets.hold_disputed import hold_disputed


async def record_chargeback(uow: UnitOfWork, news: ChargebackUpdate, sequence: int, now: datetime) -> None:
    """Opened: held. Won: free again. Lost: taken, and what the wallet cannot give is owed.

    Older news than the last holds and frees nothing. What a loss took is taken all the same, once: payments has posted it, whatever
    came after. Raises LossUnheardOf.
    """
    # Every change of a chargeback stands under its vendor's wallet's lock.
    await store.lock_wallet(uow, news.vendor_id)
    known = await chargebacks.find_chargeback(uow, news.id)
    if news.to_vendor_minor and (known is None or known.standing == "opened"):
        raise LossUnheardOf(f"chargeback {news.id} gives back what nobody has taken yet")
    key = f"chargeback:{news.id}:{sequence}"
    if not await chargebacks.save_chargeback(uow, news, sequence):
        STALE_EVENTS.labels("payments.charge_disputed").inc()
        await _debit_if_new(uow, news, key, now)
        return
    if news.standing == "opened":
        await hold_disputed(uow, news.vendor_id, news.order_id, str(sequence), now)
        return
    if known is not None and known.held_minor:
        await _free(uow, news, f"{key}:held", known.held_minor, now)
    await _debit_if_new(uow, news, key, now)
    if news.to_vendor_minor:
        await _give_back(uow, news, key, now)


async def _free(uow: UnitOfWork, news: ChargebackUpdate, key: str, held_minor: int, now: datetime) -> None:
    standing = await store.lock_wallet(uow, news.vendor_id)
    repaid_minor = repayment(standing.debt_minor, held_minor)
    lines = [Line("hold_released", held_minor, order_id=news.order_id)]
    if repaid_minor:
        lines.append(Line("debt_repaid", -repaid_minor, order_id=news.order_id))
    await store.append_lines(uow, news.vendor_id, key, standing.available_minor, lines, now)
    await ledger.post(uow, accounts.hold_released(key, news.vendor_id, held_minor, repaid_minor))


async def _debit_if_new(uow: UnitOfWork, news: ChargebackUpdate, key: str, now: datetime) -> None:
    if not news.from_vendor_minor or await store.find_line_net(uow, key, "chargeback") is not None:
        return
    standing = await store.lock_wallet(uow, news.vendor_id)
    owed_minor = shortfall(standing.available_minor, news.from_vendor_minor)
    lines = [Line("chargeback", -news.from_vendor_minor, order_id=news.order_id)]
    if owed_minor:
        # The advance comes first, so that no line shows a balance below zero.
        lines.insert(0, Line("debt_taken", owed_minor, order_id=news.order_id))
    await store.append_lines(uow, news.vendor_id, key, standing.available_minor, lines, now)
    await ledger.post(uow, accounts.chargeback(key, news.vendor_id, news.from_vendor_minor, owed_minor))


async def _give_back(uow: UnitOfWork, news: ChargebackUpdate, key: str, now: datetime) -> None:
    standing = await store.lock_wallet(uow, news.vendor_id)
    repaid_minor = repayment(standing.debt_minor, news.to_vendor_minor)
    lines = [Line("chargeback_won", news.to_vendor_minor, order_id=news.order_id)]
    if repaid_minor:
        lines.append(Line("debt_repaid", -repaid_minor, order_id=news.order_id))
    await store.append_lines(uow, news.vendor_id, key, standing.available_minor, lines, now)
    await ledger.post(uow, accounts.chargeback_won(key, news.vendor_id, news.to_vendor_minor, repaid_minor))
