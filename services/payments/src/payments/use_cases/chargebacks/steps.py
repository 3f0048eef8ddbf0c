"""Steps of chargebacks that several operations share."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from common.ledger.posting import Posting
from common.primitives.ids import new_id
from contracts.payments import ChargeDisputed
from payments.domain import chargeback_postings
from payments.domain.chargebacks import (
    ChargebackAllocation,
    DisputedCharge,
    NewChargeback,
    UnsentRefund,
    allocate_to_orders,
    disputed_vendor_minor,
    due_alert_key,
    share_of_orders,
)
from payments.domain.escrow import Escrow
from payments.domain.identifiers import reversal_refund_id, won_chargeback_release_id
from payments.domain.refunds import NewRefund
from payments.store import chargebacks
from payments.store.chargebacks import Chargeback
from payments.store.escrow import HeldOrder, save_charged_back
from payments.use_cases.alerts import alert_chargeback, clear_alert
from payments.use_cases.escrow.steps import describe_escrow, release_escrow
from payments.use_cases.refunds.create_refund import create_refund
from payments.use_cases.refunds.record_offset_settled import record_offset_settled
from payments.use_cases.refunds.resume_refunds import resume_refunds
from payments.use_cases.statements.steps import sign_movement


async def count_charged_back(uow: UnitOfWork, held: HeldOrder, refund_id: UUID, amount_minor: int) -> int:
    """Return the part of `amount_minor` (kobo) that the bank has returned to the buyer. No money moves, so nothing is
    posted.

    The refund's row must exist.
    """
    rest = amount_minor
    if held.charge_id is None:
        return 0
    for lost in await chargebacks.lock_lost_chargebacks(uow, held.charge_id):
        if lost.order_id not in (None, held.order_id):
            continue
        allocation = lost.allocation
        counted = min(rest, allocation.from_order_minor)
        if not counted:
            continue
        from_locked = allocation.from_locked.share(min(counted, allocation.from_locked.total_minor))
        from_released = allocation.from_released.share(counted - from_locked.total_minor)
        remaining = replace(
            allocation,
            from_locked=allocation.from_locked.minus(from_locked),
            from_released=allocation.from_released.minus(from_released),
        )
        await chargebacks.save_allocation(uow, lost.id, remaining, UnsentRefund(refund_id, counted))
        rest -= counted
    return amount_minor - rest


async def debit_order(
    uow: UnitOfWork,
    chargeback: Chargeback,
    held: HeldOrder | None,
    allocation: ChargebackAllocation,
    amount_minor: int,
    posting: Posting | None,
    now: datetime,
) -> Escrow | None:
    """Post the loss, record it, and count the offset refunds as returned. The order's escrow after it, if it has one.

    A part of 0 has no posting.
    """
    if posting is not None:
        await ledger.post(uow, posting)
    await chargebacks.save_decision(uow, chargeback, "lost", amount_minor, allocation, now)
    for part in allocation.from_refunds:
        await record_offset_settled(uow, part, now)
    if held is None:
        return None
    after = replace(
        held.escrow,
        locked=held.escrow.locked.minus(allocation.from_locked),
        released=held.escrow.released.minus(allocation.from_released),
    )
    await save_charged_back(uow, held.order_id, after, allocation.from_order_minor)
    return after


async def open_chargebacks(
    uow: UnitOfWork,
    charge: DisputedCharge,
    held: Sequence[HeldOrder],
    identity: str,
    amount_minor: int,
    reason: str | None,
    now: datetime,
) -> list[Chargeback]:
    """Open a chargeback of each order of the charge; one without an order for a charge that holds none.

    Publishes `charge_disputed` of each: orders freezes it, and payouts holds the vendor's part.
    """
    shares = share_of_orders(amount_minor, [order.escrow for order in held]) if held else [amount_minor]
    opened: list[Chargeback] = []
    orders: list[HeldOrder | None] = [*held] if held else [None]
    for order, share_minor in zip(orders, shares, strict=True):
        order_id = None if order is None else order.order_id
        part_of = opened[0].id if opened else None
        name = identity if part_of is None else f"{identity}/{order_id}"
        new = NewChargeback(new_id(), name, order_id, share_minor, reason, part_of)
        chargeback = await chargebacks.record_chargeback(uow, charge, new, now)
        opened.append(chargeback)
        if order is not None:
            uow.publish(
                ChargeDisputed(
                    order_id=order.order_id,
                    buyer_id=order.buyer_id,
                    vendor_id=order.vendor_id,
                    amount_minor=share_minor,
                    chargeback_id=chargeback.id,
                    vendor_minor=disputed_vendor_minor(share_minor, order.escrow),
                    remaining_minor=order.escrow.locked.total_minor,
                    remaining_vendor_minor=order.escrow.locked.vendor_minor,
                    escrow=describe_escrow(order, order.escrow),
                    number=order.number,
                )
            )
    alert_chargeback(uow, opened[0].id, "opened", charge, amount_minor)
    return opened


T = TypeVar("T")
DisputedOrder = tuple[Chargeback, HeldOrder | None]


def pair_orders(recorded: Sequence[Chargeback], held: Sequence[HeldOrder]) -> list[DisputedOrder]:
    """Return each chargeback with its order, in the order of the purchase.

    A charge may have become an order's only after its dispute, which then has no order of its own.
    """
    if len(recorded) == 1 and len(held) == 1:
        return [(recorded[0], held[0])]
    chargeback_of = {chargeback.order_id: chargeback for chargeback in recorded}
    paired: list[DisputedOrder] = [
        (chargeback_of.pop(order.order_id), order) for order in held if order.order_id in chargeback_of
    ]
    return [*((chargeback, None) for chargeback in chargeback_of.values()), *paired]


def sorted_by_lock(disputed: Iterable[tuple[DisputedOrder, T]]) -> list[tuple[DisputedOrder, T]]:
    """Return them in the order in which the ledger's balances and the vendors' statements are locked (decision 102)."""
    return sorted(disputed, key=lambda one: ("", "") if one[0][1] is None else one[0][1].lock_key)


async def record_chargeback_lost(
    uow: UnitOfWork,
    charge: DisputedCharge,
    disputed: Sequence[DisputedOrder],
    amount_minor: int,
    now: datetime,
) -> None:
    """Post the loss of each order, also after an earlier win. Unsent refunds count as returned by the bank, so that no
    money is returned twice.

    A submitted refund cannot be recalled. The uncovered amount is then a loss, which a later failure of the refund
    offsets.
    """
    refunds = await chargebacks.lock_unsent_refunds(uow, charge.id)
    orders = [(held.order_id, held.escrow) if held else (None, None) for _, held in disputed]
    allocations = allocate_to_orders(amount_minor, refunds, orders)
    for (chargeback, held), allocation in sorted_by_lock(zip(disputed, allocations, strict=True)):
        await _record_order_lost(uow, chargeback, charge, held, allocation, now)
    loss_minor = sum(allocation.loss_minor for allocation in allocations)
    alert_chargeback(uow, disputed[0][0].id, "lost", charge, amount_minor, loss_minor)
    await resume_refunds(uow, charge.id)


async def _record_order_lost(
    uow: UnitOfWork,
    chargeback: Chargeback,
    charge: DisputedCharge,
    held: HeldOrder | None,
    allocation: ChargebackAllocation,
    now: datetime,
) -> None:
    amount_minor = allocation.total_minor
    order_id, vendor_id = (held.order_id, held.vendor_id) if held else (None, None)
    loss = await chargebacks.count_losses(uow, chargeback.id) + 1
    posting = (
        chargeback_postings.chargeback(chargeback.id, loss, order_id, vendor_id, charge.currency, allocation)
        if amount_minor
        else None
    )
    after = await debit_order(uow, chargeback, held, allocation, amount_minor, posting, now)
    if held is None or after is None:
        return
    from_vendor_minor = allocation.from_released.vendor_minor
    source = f"chargeback:{chargeback.id}:lost"
    statement = await sign_movement(uow, held.vendor_id, source, -from_vendor_minor)
    uow.publish(
        ChargeDisputed(
            order_id=held.order_id,
            buyer_id=held.buyer_id,
            vendor_id=held.vendor_id,
            amount_minor=amount_minor,
            outcome="lost",
            chargeback_id=chargeback.id,
            from_vendor_minor=from_vendor_minor,
            from_commission_minor=allocation.from_released.commission_minor,
            from_delivery_fee_minor=allocation.from_released.delivery_fee_minor,
            remaining_minor=after.locked.total_minor,
            remaining_vendor_minor=after.locked.vendor_minor,
            statement=statement,
            escrow=describe_escrow(held, after),
            number=held.number,
        )
    )


async def record_responded(uow: UnitOfWork, chargeback_id: UUID, now: datetime) -> None:
    """Repeatable: the first response counts."""
    if await chargebacks.save_responded(uow, chargeback_id, now):
        clear_alert(uow, due_alert_key(chargeback_id), "the dispute has its response")


async def recreate_refunds(
    uow: UnitOfWork,
    chargeback: Chargeback,
    loss: int,
    charge: DisputedCharge,
    held: HeldOrder | None,
    reason: str,
    now: datetime,
) -> list[UnsentRefund]:
    """Return the new refunds of the `loss`-th loss of the chargeback."""
    recreated = []
    for part in await chargebacks.claim_refund_parts(uow, chargeback.id):
        refund = NewRefund(
            id=reversal_refund_id(chargeback.id, loss, part.id),
            # Not of kind `order`: orders has recorded the order's refund already.
            kind="overpayment",
            charge_id=charge.id,
            order_id=held.order_id if held else charge.order_id,
            buyer_id=held.buyer_id if held else None,
            amount_minor=part.amount_minor,
            reason=reason,
            currency=charge.currency,
        )
        await create_refund(uow, refund, now)
        recreated.append(UnsentRefund(refund.id, part.amount_minor))
    return recreated


async def release_returned(
    uow: UnitOfWork, held: HeldOrder, after: Escrow, allocation: ChargebackAllocation, release_id: UUID, now: datetime
) -> None:
    """At once, because no other release follows."""
    if not allocation.from_locked.total_minor:
        return
    cause = await chargebacks.find_final_release_cause(uow, held.order_id)
    if cause is not None:
        await release_escrow(uow, replace(held, escrow=after), release_id, after.locked.total_minor, cause, now)


async def return_to_order(uow: UnitOfWork, held: HeldOrder, allocation: ChargebackAllocation) -> Escrow:
    """Return the escrow after it. Its posting belongs to the same unit of work."""
    after = replace(
        held.escrow,
        locked=held.escrow.locked.plus(allocation.from_locked),
        released=held.escrow.released.plus(allocation.from_released),
    )
    await save_charged_back(uow, held.order_id, after, -allocation.from_order_minor)
    return after


async def record_chargeback_won(
    uow: UnitOfWork, charge: DisputedCharge, disputed: Sequence[DisputedOrder], amount_minor: int, now: datetime
) -> None:
    """Post `chargeback_won` of each order after a loss; an open chargeback has no posting to reverse.

    A refund that the loss replaced is created again, because the bank has debited that money to the payer. Escrow that
    returns to a finished order is released to its vendor at once, because no other release follows.
    """
    for (chargeback, held), _ in sorted_by_lock((one, None) for one in disputed):
        await _record_order_won(uow, chargeback, charge, held, now)
    alert_chargeback(uow, disputed[0][0].id, "won", charge, amount_minor)
    await resume_refunds(uow, charge.id)


async def _record_order_won(
    uow: UnitOfWork, chargeback: Chargeback, charge: DisputedCharge, held: HeldOrder | None, now: datetime
) -> None:
    allocation = chargeback.allocation
    loss = await chargebacks.count_losses(uow, chargeback.id)
    recreated = await recreate_refunds(uow, chargeback, loss, charge, held, "chargeback_won", now)
    order_id, vendor_id = (held.order_id, held.vendor_id) if held else (None, None)
    if chargeback.status == "lost" and chargeback.amount_minor:
        posting = chargeback_postings.chargeback_won(
            chargeback.id, loss, order_id, vendor_id, charge.currency, allocation, recreated
        )
        await ledger.post(uow, posting)
    await chargebacks.save_decision(uow, chargeback, "won", chargeback.amount_minor, ChargebackAllocation(), now)
    if held is not None:
        after = await return_to_order(uow, held, allocation)
        to_vendor_minor = allocation.from_released.vendor_minor
        statement = await sign_movement(uow, held.vendor_id, f"chargeback:{chargeback.id}:won", to_vendor_minor)
        uow.publish(
            ChargeDisputed(
                order_id=held.order_id,
                buyer_id=held.buyer_id,
                vendor_id=held.vendor_id,
                amount_minor=chargeback.amount_minor,
                outcome="won",
                chargeback_id=chargeback.id,
                to_vendor_minor=to_vendor_minor,
                to_commission_minor=allocation.from_released.commission_minor,
                to_delivery_fee_minor=allocation.from_released.delivery_fee_minor,
                remaining_minor=after.locked.total_minor,
                remaining_vendor_minor=after.locked.vendor_minor,
                statement=statement,
                escrow=describe_escrow(held, after),
                number=held.number,
            )
        )
        await release_returned(uow, held, after, allocation, won_chargeback_release_id(chargeback.id, loss), now)
