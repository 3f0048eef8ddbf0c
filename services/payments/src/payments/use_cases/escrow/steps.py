"""Steps of escrow that several operations share."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from common.ledger.posting import Effect, Posting
from common.primitives.clock import iso
from contracts.payments import EscrowHeld, EscrowReleased, EscrowState
from payments.domain import escrow, postings
from payments.domain.charges import CoveringPayment
from payments.domain.errors import SubjectUnknown
from payments.domain.escrow import Escrow, Release
from payments.domain.refunds import NewRefund
from payments.store.charges import PayableOrders
from payments.store.escrow import HeldMoney, HeldOrder, lock_escrow, record_escrows, save_release
from payments.use_cases.balances.return_hold import return_hold
from payments.use_cases.refunds.create_refund import create_refund
from payments.use_cases.statements.steps import sign_movement


def describe_escrow(held: HeldOrder, after: Escrow) -> EscrowState:
    """Return the state of the order's money after a movement, for projections that must not add up movements."""
    return EscrowState(
        held_at=iso(held.held_at),
        held_minor=held.held_minor,
        locked_minor=after.locked.total_minor,
        net_minor=after.released.vendor_minor,
        commission_minor=after.released.commission_minor,
        delivery_fee_minor=after.released.delivery_fee_minor,
    )


async def hold_escrow(
    uow: UnitOfWork,
    posting: Posting | None,
    payable: PayableOrders,
    payment: CoveringPayment,
    surplus: NewRefund | None,
    now: datetime,
    recorded_charge: Effect | None = None,
) -> None:
    """Post the money, record the escrow of each unpaid order and the refund of a surplus, and mark orders and intent
    paid.

    `posting` credits the total of each of them to its escrow, less the shares that the balance has paid, and the
    surplus to its refund. A surplus of 0 needs no refund, and a payment from the balance alone no posting.
    `recorded_charge` is written, too. All of it is one round trip.
    """
    orders = payable.unpaid
    escrows = [escrow.held(order.total_minor, order.commission_minor, order.delivery_fee_minor) for order in orders]
    events = [
        EscrowHeld(
            order_id=order.order_id,
            buyer_id=order.buyer_id,
            vendor_id=order.vendor_id,
            amount_minor=order.total_minor,
            commission_minor=order.commission_minor,
            delivery_fee_minor=order.delivery_fee_minor,
            reference=payment.reference,
            held_at=iso(now),
            number=order.number,
            purchase_id=order.purchase_id,
            paid_orders=len(orders) if len(orders) > 1 else None,
        )
        for order in orders
    ]
    # The sequences of several orders are locked together, at the end.
    only = events.pop() if len(events) == 1 else None
    closed = await record_escrows(uow, payable, payment, escrows, now, HeldMoney(posting, recorded_charge, only))
    for intent_id in closed:
        await return_hold(uow, intent_id, now)
    for event in events:
        uow.publish(event)
    if surplus is not None and surplus.amount_minor:
        await create_refund(uow, surplus, now)


async def lock_disputed_escrow(uow: UnitOfWork, order_id: UUID, sequence: int) -> HeldOrder | None:
    """Return the locked escrow; None for an event older than the last one about this dispute. Raises SubjectUnknown."""
    held = await lock_escrow(uow, order_id)
    if held is None:
        raise SubjectUnknown(f"order {order_id} is disputed, and has no escrow yet")
    return held if sequence > held.dispute_sequence else None


Cause = Literal["delivery", "staff", "resolution"]


async def release_escrow(
    uow: UnitOfWork,
    held: HeldOrder,
    release_id: UUID,
    amount_minor: int,
    cause: Cause,
    now: datetime,
    released_by: UUID | None = None,
) -> Release:
    """Post and record the release of `amount_minor` kobo. Raises EscrowLocked (423) and EscrowBalanceDeficit (409).

    A release of 0 has no posting. Its event ends the wait of an order whose money a bank charged back.
    """
    plan = escrow.release(held.escrow, amount_minor, resolves_dispute=cause == "resolution")
    if amount_minor:
        await ledger.post(uow, postings.release(release_id, held.order_id, held.vendor_id, plan.parts))
    statement = await sign_movement(uow, held.vendor_id, f"release:{release_id}", plan.parts.vendor_minor)
    event = EscrowReleased(
        order_id=held.order_id,
        buyer_id=held.buyer_id,
        vendor_id=held.vendor_id,
        release_id=release_id,
        gross_minor=plan.parts.total_minor,
        commission_minor=plan.parts.commission_minor,
        delivery_fee_minor=plan.parts.delivery_fee_minor,
        net_minor=plan.parts.vendor_minor,
        remaining_minor=plan.after.locked.total_minor,
        remaining_vendor_minor=plan.after.locked.vendor_minor,
        statement=statement,
        escrow=describe_escrow(held, plan.after),
        number=held.number,
    )
    await save_release(uow, plan, cause, released_by, now, event)
    return plan
