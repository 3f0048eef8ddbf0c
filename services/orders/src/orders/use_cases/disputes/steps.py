"""Steps of disputes that several operations share."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from contracts.orders import OrderDisputed
from orders.domain.disputes import EVIDENCE_IMAGES_MAX, Complaint, EvidenceAuthor
from orders.domain.errors import ForbiddenTransition, PartyCannotDecide, TooManyEvidenceImages
from orders.domain.order_history import OrderActor
from orders.domain.order_roles import PARTY_ROLES, OrderParties, roles_of
from orders.domain.orders import Order, Windows
from orders.store import disputes, orders


def check_not_party(caller: Caller, order: OrderParties) -> None:
    """Raise PartyCannotDecide (403) when the caller bought or sold the order."""
    if roles_of(caller, order) & PARTY_ROLES:
        raise PartyCannotDecide


async def lock_disputed_order(uow: UnitOfWork, order_id: UUID, author: EvidenceAuthor) -> None:
    """Lock the order while its dispute is open and the author has images left.

    The lock serializes concurrent uploads, so that none exceeds the maximum. Raises NotFound, ForbiddenTransition and
    TooManyEvidenceImages (409).
    """
    order = await orders.lock_order(uow, order_id)
    if order is None:
        raise NotFound
    if order.status != "disputed":
        raise ForbiddenTransition(order.status)
    if await disputes.count_evidence(uow, order_id, author) >= EVIDENCE_IMAGES_MAX:
        raise TooManyEvidenceImages(EVIDENCE_IMAGES_MAX)


async def open_dispute(uow: UnitOfWork, order: Order, complaint: Complaint, *, now: datetime, windows: Windows) -> None:
    """Dispute a locked order; payments freezes its escrow on the event (contract sections 6 and 7)."""
    buyer = None if complaint.raised_by is None else OrderActor(complaint.raised_by, "buyer")
    facts = orders.TransitionFacts(actor=buyer)
    await orders.save_transition(uow, order, "disputed", complaint.trigger, now, windows, facts)
    await disputes.record_dispute(uow, order, complaint, now)
    uow.publish(
        OrderDisputed(
            order_id=order.id,
            buyer_id=order.buyer_id,
            vendor_id=order.vendor_id,
            reason=complaint.reason,
            number=order.number,
        )
    )
