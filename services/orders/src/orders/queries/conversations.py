"""Conversations and messages as their parties and support read them (contract section 11.9)."""

from datetime import datetime
from typing import Final
from uuid import UUID

from asyncpg import Record

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.web.pages import CursorPage, CursorRequest
from orders.domain.conversations import ConversationOffer
from orders.domain.message_texts import MASKED_REASON
from orders.queries.pages import newest_page
from orders.responses.conversations import ConversationImage, VendorConversation, VendorMessage
from orders.responses.conversations import ConversationOffer as OfferResponse

_CONVERSATIONS: Final = """
SELECT conversation.id, conversation.product_id, conversation.order_id, conversation.buyer_id, conversation.buyer_name,
    conversation.vendor_id, vendor.business_name AS vendor_name, conversation.blocked_by, conversation.created_at,
    conversation.last_message_at,
    CASE WHEN conversation.buyer_id = $1 THEN conversation.buyer_unread
         WHEN conversation.vendor_id = $2 THEN conversation.vendor_unread ELSE 0 END AS unread_count
FROM conversations AS conversation LEFT JOIN vendors AS vendor ON vendor.id = conversation.vendor_id
"""
_ONE: Final = f"{_CONVERSATIONS} WHERE conversation.id = $3"
# With an order the row policies decide, so that support finds the conversation of a dispute; else the caller's own.
_PAGE: Final = f"""
{_CONVERSATIONS}
WHERE CASE WHEN $3::uuid IS NULL THEN conversation.buyer_id = $1 OR conversation.vendor_id = $2
      ELSE conversation.order_id = $3 END {{beyond}}
ORDER BY conversation.created_at DESC, conversation.id DESC LIMIT {{limit}}
"""
# A hidden text is shown to its author's side and to staff: to everyone but the other party ($1 and $2 are the caller's
# ids as a buyer and as a vendor).
_COLUMNS: Final = """
SELECT message.id, message.conversation_id, message.author, message.masked, message.created_at,
    CASE WHEN message.hidden_at IS NULL OR shown.to_caller THEN message.text ELSE '' END AS text,
    message.hidden_at IS NOT NULL AS hidden,
    CASE WHEN shown.to_caller THEN message.hidden_because END AS hidden_because,
    offer.id AS offer_id, offer.product_id, offer.variant_id, offer.quantity, offer.unit_price_minor, offer.expires_at,
    offer.withdrawn_at, offer.order_id, image.id AS image_id,
    '/api/conversations/' || image.conversation_id || '/images/' || image.id AS image_url
FROM conversation_messages AS message
JOIN conversations AS conversation ON conversation.id = message.conversation_id
CROSS JOIN LATERAL (
    SELECT CASE message.author WHEN 'buyer' THEN conversation.vendor_id IS DISTINCT FROM $2
           ELSE conversation.buyer_id IS DISTINCT FROM $1 END AS to_caller
) AS shown
LEFT JOIN conversation_offers AS offer ON offer.message_id = message.id
LEFT JOIN conversation_images AS image ON image.message_id = message.id
    AND (message.hidden_at IS NULL OR shown.to_caller)
"""
_MESSAGES: Final = f"""
{_COLUMNS} WHERE message.conversation_id = $3 {{beyond}}
ORDER BY message.created_at DESC, message.id DESC LIMIT {{limit}}
"""
_MESSAGE: Final = f"{_COLUMNS} WHERE message.id = $3"
_HAS_IMAGE: Final = f"SELECT EXISTS ({_COLUMNS} WHERE image.id = $3 AND image.conversation_id = $4)"
_IMAGE: Final = "SELECT id, conversation_id, byte_count, created_at FROM conversation_images WHERE id = $1"
_OFFER: Final = f"{_COLUMNS} WHERE offer.id = $3"


async def find_conversation(uow: UnitOfWork, caller: Caller, conversation_id: UUID) -> VendorConversation | None:
    """Return the conversation; None when it is absent or invisible."""
    record = await uow.fetch_row(_ONE, caller.user_id, caller.vendor_id, conversation_id)
    return None if record is None else VendorConversation.from_row(record)


async def page_of_conversations(
    uow: UnitOfWork, requested: CursorRequest, caller: Caller, order_id: UUID | None
) -> CursorPage[VendorConversation]:
    """One page of the caller's conversations, the last opened first; with an order the one about it."""
    scope = ["conversations", order_id, caller.id, caller.vendor_id]
    position = requested.time_position(scope) or ()
    beyond = "AND (conversation.created_at, conversation.id) < ($4, $5)" if position else ""
    statement = _PAGE.format(beyond=beyond, limit=requested.limit + 1)
    records = await uow.fetch(statement, caller.user_id, caller.vendor_id, order_id, *position)
    return newest_page(records, requested, scope, VendorConversation.from_row)


async def page_of_messages(
    uow: UnitOfWork,
    requested: CursorRequest,
    caller: Caller,
    conversation_id: UUID,
    now: datetime,
) -> CursorPage[VendorMessage]:
    """One page of the messages, newest first."""
    scope = ["messages", conversation_id, caller.id]
    position = requested.time_position(scope) or ()
    beyond = "AND (message.created_at, message.id) < ($4, $5)" if position else ""
    statement = _MESSAGES.format(beyond=beyond, limit=requested.limit + 1)
    records = await uow.fetch(statement, caller.user_id, caller.vendor_id, conversation_id, *position)
    return newest_page(records, requested, scope, lambda record: _message(record, now))


async def find_message(uow: UnitOfWork, caller: Caller, message_id: UUID, now: datetime) -> VendorMessage | None:
    record = await uow.fetch_row(_MESSAGE, caller.user_id, caller.vendor_id, message_id)
    return None if record is None else _message(record, now)


async def find_message_of_offer(uow: UnitOfWork, caller: Caller, offer_id: UUID, now: datetime) -> VendorMessage | None:
    record = await uow.fetch_row(_OFFER, caller.user_id, caller.vendor_id, offer_id)
    return None if record is None else _message(record, now)


async def has_image(uow: UnitOfWork, caller: Caller, conversation_id: UUID, image_id: UUID) -> bool:
    """Return whether a message of this conversation shows the image to the caller."""
    return bool(await uow.fetch_value(_HAS_IMAGE, caller.user_id, caller.vendor_id, image_id, conversation_id))


async def find_image(uow: UnitOfWork, image_id: UUID) -> ConversationImage | None:
    """Return the image, also an unsent one. For the service."""
    record = await uow.fetch_row(_IMAGE, image_id)
    return None if record is None else ConversationImage.from_row(record)


def _message(record: Record, now: datetime) -> VendorMessage:
    return VendorMessage.from_row(
        record,
        masked_reason=MASKED_REASON if record["masked"] else None,
        offer=None if record["offer_id"] is None else _offer(record, now),
    )


def _offer(record: Record, now: datetime) -> OfferResponse:
    offer = ConversationOffer(
        record["offer_id"],
        record["product_id"],
        record["variant_id"],
        record["quantity"],
        record["unit_price_minor"],
        record["expires_at"],
        record["withdrawn_at"],
        record["order_id"],
    )
    return OfferResponse.from_row(record, id=offer.id, status=offer.status_at(now))
