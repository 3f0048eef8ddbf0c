"""Approve a resolution of a dispute."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.decisions import evaluate_approval
from common.primitives.lifecycles import Rejection
from common.primitives.problems import NotFound
from contracts.orders import DisputeResolved
from orders.domain.disputes import release_of, trigger_of
from orders.domain.errors import ForbiddenTransition
from orders.domain.order_history import OrderActor
from orders.domain.orders import Windows
from orders.domain.transitions import next_state
from orders.store import disputes, orders
from orders.use_cases.disputes.steps import check_not_party
from orders.use_cases.refunds.steps import request_refund


async def approve_resolution(
    uow: UnitOfWork,
    resolution_id: UUID,
    order_id: UUID,
    approved_hash: str,
    *,
    by: Caller,
    now: datetime,
    windows: Windows,
) -> None:
    """Apply the resolution once: transition, refund and release commit together (contract sections 6 and 7).

    Only the event `refund_requested` refunds; the resolution event unfreezes escrow and releases the rest of it. Raises
    NotFound, PartyCannotDecide (403), ForbiddenTransition (409), and the errors of `evaluate_approval`.
    """
    order = await orders.lock_order(uow, order_id)
    resolution = await disputes.lock_resolution(uow, resolution_id)
    if order is None or resolution is None:
        raise NotFound
    check_not_party(by, order)
    if not evaluate_approval(resolution.decision, approved_hash, by.id):
        return
    trigger = trigger_of(resolution.outcome)
    transition = next_state(order.status, trigger)
    if isinstance(transition, Rejection):
        raise ForbiddenTransition(order.status)
    refund_minor = resolution.refund_minor
    release_minor = release_of(refund_minor, order.escrow_minor)
    facts = orders.TransitionFacts(actor=OrderActor(by.id, "staff"))
    await orders.save_transition(uow, order, transition, trigger, now, windows, facts)
    refund_to = await disputes.close_dispute(uow, order.id, resolution.outcome, now)
    refund_id = None
    if refund_minor:
        reason = f"dispute: {resolution.outcome}"
        refund_id = await request_refund(uow, order, refund_minor, reason, now, refund_to=refund_to)
    await disputes.save_approval(uow, resolution.id, by.id, now, release_minor, refund_id)
    uow.publish(
        DisputeResolved(
            order_id=order.id,
            buyer_id=order.buyer_id,
            vendor_id=order.vendor_id,
            outcome=resolution.outcome,
            refund_minor=refund_minor,
            release_minor=release_minor,
            refund_id=refund_id,
            number=order.number,
        )
    )
