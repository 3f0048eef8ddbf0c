"""Reply to a review."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from orders.domain.review_errors import AlreadyReplied, ForeignReview
from orders.store import reviews


async def reply_to_review(uow: UnitOfWork, caller: Caller, review_id: UUID, text: str, *, now: datetime) -> None:
    """Save the only reply of the reviewed vendor, which everyone reads below the review.

    Raises NotFound for an absent or hidden review, ForeignReview (403) and AlreadyReplied (409).
    """
    review = await reviews.find_replied_review(uow, review_id)
    if review is None or review.hidden:
        raise NotFound
    if review.vendor_id != caller.vendor_id:
        raise ForeignReview
    if not await reviews.save_reply_if_new(uow, review_id, text, now):
        raise AlreadyReplied
