"""The errors of conversations (contract section 11.9)."""

from collections.abc import Mapping

from common.primitives.problems import Conflict, Forbidden, InvalidParam, RateLimited, ValidationFailed
from orders.domain.conversations import OfferStatus


class TooManyMessages(RateLimited):
    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__(
            "You have sent too many messages. Wait a moment, then send the next one.",
            headers={"Retry-After": str(retry_after_seconds)},
        )


class TooManyConversations(RateLimited):
    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__(
            "You have opened too many conversations. Continue one of them, or wait.",
            headers={"Retry-After": str(retry_after_seconds)},
        )


class TooManyMessageImages(RateLimited):
    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__(
            "You have added too many images to conversations. Wait, then add the next one.",
            headers={"Retry-After": str(retry_after_seconds)},
        )


class UnknownMessageImage(ValidationFailed):
    detail = "The image does not exist, has expired, or is in another message. Add it to the conversation again."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("imageId", "is no unsent image of yours in this conversation")])


class ConversationBlocked(Forbidden):
    """The other party wants no message of the caller."""

    detail = "The other party has blocked messages of yours. For a problem with an order, open a dispute or a ticket."


class ConversationSubjectRequired(ValidationFailed):
    detail = "A conversation is about one product or one order. Send productId or orderId."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("productId", "send productId or orderId, and not both")])


class VendorMakesOffers(Forbidden):
    detail = "Only the vendor of a conversation makes and withdraws offers. Ask for one in a message."


class UnknownOffer(ValidationFailed):
    detail = "An offer of this checkout does not exist or is not yours. Remove its offerId, or ask the vendor for one."

    def __init__(self, positions: list[int]) -> None:
        super().__init__(
            invalid_params=[InvalidParam(f"items.{position}.offerId", "does not exist") for position in positions]
        )


class OfferTermsDiffer(ValidationFailed):
    detail = "An offer is for exactly its product, variant and quantity. Send these, or order without the offer."

    def __init__(self, terms: Mapping[str, object]) -> None:
        """`terms` has the offer's value by the field of the request that differs."""
        super().__init__(
            invalid_params=[
                InvalidParam(field, "the offer has none" if value is None else f"the offer is for {value}")
                for field, value in terms.items()
            ]
        )


class OfferNotOpen(Conflict):
    detail = "An offer is not open any more. Ask the vendor for another one, or order at the price of the product."

    def __init__(self, statuses: Mapping[str, OfferStatus]) -> None:
        """`statuses` has the state of the offer by the field of the request that names it."""
        super().__init__(invalid_params=[InvalidParam(field, f"is {status}") for field, status in statuses.items()])
