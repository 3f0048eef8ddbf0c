"""Responses of conversations."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp
from orders.domain.conversations import OfferStatus, Side


class VendorConversation(ResponseModel):
    """A conversation of a buyer and a vendor, about a product or an order."""

    id: UUID
    product_id: UUID | None
    order_id: UUID | None
    buyer_id: UUID
    buyer_name: Annotated[str | None, Meta(description="First name and initial; null where it is not known.")]
    vendor_id: UUID
    vendor_name: str | None
    unread_count: Annotated[int, Meta(description="The messages that the caller has not read.")]
    blocked_by: Annotated[Side | None, Meta(description="The side that rejects messages of the other; else null.")]
    created_at: Timestamp
    last_message_at: Annotated[Timestamp, Meta(description="The time of the last message, or of the opening.")]


class ConversationOffer(ResponseModel):
    """An offer of the vendor to the buyer, who accepts it by a checkout with `offerId` in the item."""

    id: UUID
    product_id: UUID
    variant_id: UUID | None
    quantity: Annotated[int, Meta(description="The checkout orders exactly this quantity.")]
    unit_price_minor: int
    status: OfferStatus
    expires_at: Timestamp
    order_id: Annotated[UUID | None, Meta(description="The order that accepted it; else null.")]


class ConversationImage(ResponseModel):
    """An image that its author may show with one message, within a day."""

    id: UUID
    conversation_id: UUID
    byte_count: Annotated[int, Meta(description="Bytes of the stored image.")]
    created_at: Timestamp


class VendorMessage(ResponseModel):
    """A message of a conversation. A client shows its links as text."""

    id: UUID
    conversation_id: UUID
    author: Side
    text: Annotated[
        str,
        Meta(description="The text, masked; empty after the erasure of its author, and hidden from the other party."),
    ]
    masked: Annotated[bool, Meta(description="Whether digits of the text were hidden.")]
    masked_reason: Annotated[str | None, Meta(description="Why digits were hidden; null where none were.")]
    hidden: Annotated[bool, Meta(description="Whether staff hid the text from everyone but its author and staff.")]
    hidden_because: Annotated[str | None, Meta(description="The reason of staff, for the author and staff.")]
    offer: Annotated[ConversationOffer | None, Meta(description="The offer that the message makes; else null.")]
    image_id: Annotated[
        UUID | None, Meta(description="The image of the message; null without one, when it was erased, or is hidden.")
    ]
    image_url: Annotated[
        str | None, Meta(description="The path of the image in this API, which needs the reader's token; else null.")
    ]
    created_at: Timestamp
