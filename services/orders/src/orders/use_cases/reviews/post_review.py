"""Review a vendor or a product."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import Forbidden, NotFound
from contracts.orders import ReviewPosted
from orders.domain.errors import ForbiddenTransition, OwnVendor
from orders.domain.order_roles import is_own_vendor
from orders.domain.review_errors import AlreadyReviewed, EmailUnconfirmed, ReviewNotAllowed
from orders.domain.reviews import ReviewContent
from orders.store import reviews


async def post_review(uow: UnitOfWork, caller: Caller, content: ReviewContent, *, now: datetime) -> UUID:
    """Return the buyer of a delivered order reviews its vendor and each of its products once; the rating counts
    immediately.

    Raises EmailUnconfirmed (403, contract section 10.1), NotFound for an invisible order, Forbidden when another user
    bought it, OwnVendor (403), ForbiddenTransition (409) before the delivery, ReviewNotAllowed (422), AlreadyReviewed
    (409).
    """
    if not caller.email_confirmed:
        raise EmailUnconfirmed
    order = await reviews.find_reviewed_order(uow, content.order_id)
    if order is None:
        raise NotFound
    if order.buyer_id != caller.id:
        raise Forbidden("Only the buyer of the order may review it.")
    if is_own_vendor(caller, order.vendor_id, order.vendor_owner_id):
        raise OwnVendor
    if content.vendor_id not in (None, order.vendor_id):
        raise ReviewNotAllowed("was not placed with this vendor")
    if content.product_id is not None and content.product_id not in order.product_ids:
        raise ReviewNotAllowed("does not contain this product")
    if not order.delivered:
        raise ForbiddenTransition(order.status)
    review_id = new_id()
    if not await reviews.record_review_if_new(uow, review_id, order, content, now=now):
        raise AlreadyReviewed
    uow.publish(
        ReviewPosted(
            review_id=review_id, vendor_id=order.vendor_id, product_id=content.product_id, rating=content.rating
        )
    )
    return review_id
