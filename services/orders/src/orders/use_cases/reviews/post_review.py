"""Reviewing a vendor or a product."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import Forbidden, NotFound
from contracts.orders import ReviewPosted
from orders.domain.errors import AlreadyReviewed, EmailUnconfirmed, ForbiddenTransition, OwnVendor, ReviewNotAllowed
from orders.domain.order_roles import is_own_vendor
from orders.store import reviews


@dataclass(frozen=True, slots=True)
class ReviewContent:
    """What a buyer says about an order's vendor, or about a product of it. `rating` is 1 to 5."""

    order_id: UUID
    rating: int
    text: str
    vendor_id: UUID | None = None
    product_id: UUID | None = None


async def post_review(uow: UnitOfWork, caller: Caller, opinion: ReviewContent, *, now: datetime) -> UUID:
    """The buyer of a delivered order reviews its vendor or one of its products, each once; the rating counts at once.

    Raises AddressUnproven (403) before the proof of the caller's mail address (contract section 10.1), NotFound for an order that
    the caller does not see, Forbidden when another person bought it, OwnVendor (403), ForbiddenMove (409) before the delivery,
    NotOfThisOrder (422), ReviewedBefore (409).
    """
    if not caller.email_confirmed:
        raise EmailUnconfirmed
    order = await reviews.find_reviewed_order(uow, opinion.order_id)
    if order is None:
        raise NotFound
    if order.buyer_id != caller.id:
        raise Forbidden("Only who bought it may review it.")
    if is_own_vendor(caller, order.vendor_id, order.vendor_owner_id):
        raise OwnVendor
    if opinion.vendor_id not in (None, order.vendor_id):
        raise ReviewNotAllowed("was not placed with this vendor")
    if opinion.product_id is not None and opinion.product_id not in order.product_ids:
        raise ReviewNotAllowed("does not hold this product")
    if not order.delivered:
        raise ForbiddenTransition(order.status)
    review_id = new_id()
    recorded = await reviews.record_review_if_new(
        uow,
        review_id=review_id,
        order_id=opinion.order_id,
        buyer_id=caller.id,
        vendor_id=order.vendor_id,
        product_id=opinion.product_id,
        rating=opinion.rating,
        text=opinion.text,
        now=now,
    )
    if not recorded:
        raise AlreadyReviewed
    uow.publish(
        ReviewPosted(
            review_id=review_id, vendor_id=order.vendor_id, product_id=opinion.product_id, rating=opinion.rating
        )
    )
    return review_id
