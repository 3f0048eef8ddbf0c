"""Steps of wallets that several operations share."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger.posting import Posting
from payouts.domain import accounts
from payouts.domain.chargebacks import HoldChange, plan_holds
from payouts.domain.wallet import (
    NO_MOVEMENT,
    LineKind,
    Movement,
    WalletLine,
    WalletSnapshot,
    line_of_movement,
    repayment,
    shortfall,
    with_balances,
)
from payouts.store import chargebacks, wallets


async def build_order_line(
    uow: UnitOfWork, kind: LineKind, vendor_id: UUID, order_id: UUID, movement: Movement
) -> WalletLine:
    """Return the line with gross, commission and delivery fee of what had reached the wallet (contract section 8.1)."""
    is_stated = movement.commission_minor is not None
    released = NO_MOVEMENT if is_stated else await wallets.sum_released(uow, vendor_id, order_id)
    return line_of_movement(kind, order_id, movement, released)


def build_debit(
    wallet: WalletSnapshot, line: WalletLine, posting_of: Callable[[int], Posting]
) -> tuple[list[WalletLine], Posting | None]:
    """Return the statement lines and the posting of one debit. `posting_of` gets the part that becomes debt, in kobo.
    A debit of nothing has its line, and no posting.
    """
    shortfall_minor = shortfall(wallet.available_minor, -line.net_minor)
    lines = [line]
    if shortfall_minor:
        # The advance comes first, so that no line has a balance below zero.
        lines.insert(0, WalletLine("debt_taken", shortfall_minor, line.order_id, line.payout_id))
    return lines, posting_of(shortfall_minor) if line.net_minor else None


async def debit_wallet(
    uow: UnitOfWork,
    vendor_id: UUID,
    wallet: WalletSnapshot,
    key: str,
    line: WalletLine,
    posting_of: Callable[[int], Posting],
    now: datetime,
) -> None:
    """Write the statement lines and the posting of one debit. `wallet` must be read under its lock."""
    lines, posting = build_debit(wallet, line, posting_of)
    await wallets.append_lines(uow, vendor_id, key, with_balances(wallet.available_minor, lines), now, posting)


async def post_credit(
    uow: UnitOfWork,
    vendor_id: UUID,
    wallet: WalletSnapshot,
    key: str,
    line: WalletLine,
    posting_of: Callable[[int], Posting],
    now: datetime,
) -> None:
    """Write the statement lines and the posting. `posting_of` gets the part that repays debt, in kobo.

    `wallet` must be read under its lock. A credit of nothing writes its line, and no posting.
    """
    repaid_minor = repayment(wallet.debt_minor, line.net_minor)
    lines = [line]
    if repaid_minor:
        lines.append(WalletLine("debt_repaid", -repaid_minor, line.order_id, line.payout_id))
    posting = posting_of(repaid_minor) if line.net_minor else None
    await wallets.append_lines(uow, vendor_id, key, with_balances(wallet.available_minor, lines), now, posting)


async def adjust_holds(uow: UnitOfWork, vendor_id: UUID, cause: str, now: datetime) -> None:
    """Calculate holds again after each credit and each event of a disputed order (contract section 8).

    A refund of the order returns a part of the hold; a later credit of any kind is held up to the amount at stake.
    `cause` names the event, so that each change has its own key. The wallet must be locked.
    """
    for returns_first in (True, False):
        opened = await chargebacks.list_open_chargebacks(uow, vendor_id)
        if not opened:
            return
        wallet = await wallets.lock_wallet(uow, vendor_id)
        for change in plan_holds(opened, wallet.available_minor):
            if (change.added_minor < 0) == returns_first:
                await _change(uow, vendor_id, change, cause, now)


async def _change(uow: UnitOfWork, vendor_id: UUID, change: HoldChange, cause: str, now: datetime) -> None:
    await chargebacks.change_hold(uow, change)
    wallet = await wallets.lock_wallet(uow, vendor_id)
    if change.added_minor > 0:
        key = f"chargeback_hold:{change.chargeback_id}:{cause}"
        line = WalletLine("hold", -change.added_minor, change.order_id)
        posting = accounts.hold(key, vendor_id, change.added_minor)
        await wallets.append_lines(uow, vendor_id, key, with_balances(wallet.available_minor, [line]), now, posting)
    elif change.added_minor < 0:
        key = f"chargeback_hold_returned:{change.chargeback_id}:{cause}"
        line = WalletLine("hold_released", -change.added_minor, change.order_id)
        posting_of = partial(accounts.hold_released, key, vendor_id, line.net_minor)
        await post_credit(uow, vendor_id, wallet, key, line, posting_of, now)


async def credit_wallet(
    uow: UnitOfWork,
    vendor_id: UUID,
    wallet: WalletSnapshot,
    key: str,
    line: WalletLine,
    posting_of: Callable[[int], Posting],
    now: datetime,
) -> None:
    """Every credit, whatever its kind. `wallet` must be read under its lock; `posting_of` gets the part that repays
    debt, in kobo.
    """
    await post_credit(uow, vendor_id, wallet, key, line, posting_of, now)
    await adjust_holds(uow, vendor_id, key, now)
