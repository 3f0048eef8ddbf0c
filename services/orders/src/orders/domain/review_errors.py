"""The errors of reviews and replies (contract section 11.4)."""

from common.primitives.problems import Conflict, Forbidden, InvalidParam, ValidationFailed


class ReviewNotAllowed(ValidationFailed):
    detail = "This order does not permit this review."

    def __init__(self, reason: str) -> None:
        super().__init__(invalid_params=[InvalidParam("orderId", reason)])


class AlreadyReviewed(Conflict):
    detail = "You have already reviewed this for this order."


class ForeignReview(Forbidden):
    detail = "This review is of another vendor."


class AlreadyReplied(Conflict):
    detail = "You have already replied to this review."


class EmailUnconfirmed(Forbidden):
    """Reviews need a confirmed mail address (contract section 10.1)."""

    detail = "Confirm your mail address first. Then sign in again and write the review."

    def __init__(self) -> None:
        super().__init__(extensions={"confirmationRequired": True})
