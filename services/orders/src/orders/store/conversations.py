"""Conversations: reads that writes decide on, and the writes, as the service after the caller's side was checked."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.conversations import Participant, Parties, Side
from orders.domain.message_texts import MaskedText
from orders.store.erasure import refuse_during_erasure

_PARTIES_OF_PRODUCT: Final = """
SELECT product.vendor_id, vendor.owner_user_id
FROM listed_products AS product LEFT JOIN vendors AS vendor ON vendor.id = product.vendor_id WHERE product.id = $1
"""
_PARTIES_OF_ORDER: Final = """
SELECT placed.buyer_id, placed.vendor_id, vendor.owner_user_id
FROM orders AS placed LEFT JOIN vendors AS vendor ON vendor.id = placed.vendor_id WHERE placed.id = $1
"""
_PARTIES: Final = """
SELECT conversation.buyer_id, conversation.vendor_id, vendor.owner_user_id
FROM conversations AS conversation LEFT JOIN vendors AS vendor ON vendor.id = conversation.vendor_id
WHERE conversation.id = $1
"""
_FIND_OF_PRODUCT: Final = "SELECT id FROM conversations WHERE buyer_id = $1 AND product_id = $2"
_FIND_OF_ORDER: Final = "SELECT id FROM conversations WHERE order_id = $1"
# What one user opens and writes is counted one request after the other.
_LOCK_AUTHOR: Final = "SELECT pg_advisory_xact_lock(hashtextextended('conversations:' || $1::uuid, 0))"
_OPENED: Final = """
SELECT created_at FROM conversations WHERE opened_by = $1 AND created_at > $2 ORDER BY created_at DESC LIMIT $3
"""
_WRITTEN: Final = """
SELECT created_at FROM conversation_messages WHERE author_id = $1 AND created_at > $2 ORDER BY created_at DESC LIMIT $3
"""
_IS_BLOCKED: Final = """
SELECT EXISTS (SELECT FROM conversations WHERE buyer_id = $1 AND vendor_id = $2 AND blocked_by = $3)
"""
_RECORD: Final = """
INSERT INTO conversations (
    id, buyer_id, vendor_id, product_id, order_id, opened_by, buyer_name, created_at, last_message_at
)
VALUES ($1, $2, $3, $4, $5, $6, (SELECT contact.short_name FROM user_contacts AS contact WHERE contact.user_id = $2),
    $7, $7)
ON CONFLICT DO NOTHING RETURNING true
"""
_LOCK: Final = "SELECT buyer_notified_at, vendor_notified_at FROM conversations WHERE id = $1 FOR NO KEY UPDATE"
_RECORD_MESSAGE: Final = """
INSERT INTO conversation_messages (id, conversation_id, author, author_id, text, masked, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
"""
# The writer has read everything; the other side has one more to read.
_RECORD_ACTIVITY: Final = """
UPDATE conversations SET last_message_at = $3,
    buyer_unread = CASE $2 WHEN 'buyer' THEN 0 ELSE buyer_unread + 1 END,
    vendor_unread = CASE $2 WHEN 'vendor' THEN 0 ELSE vendor_unread + 1 END,
    buyer_notified_at = CASE WHEN $4 AND $2 = 'vendor' THEN $3 ELSE buyer_notified_at END,
    vendor_notified_at = CASE WHEN $4 AND $2 = 'buyer' THEN $3 ELSE vendor_notified_at END
WHERE id = $1
"""
_IMAGES_ADDED: Final = """
SELECT created_at FROM conversation_images WHERE author_id = $1 AND created_at > $2 ORDER BY created_at DESC LIMIT $3
"""
_RECORD_IMAGE: Final = """
INSERT INTO conversation_images (id, conversation_id, author_id, byte_count, created_at) VALUES ($1, $2, $3, $4, $5)
"""
_SHOW_IMAGE: Final = """
UPDATE conversation_images SET message_id = $4
WHERE id = $1 AND conversation_id = $2 AND author_id = $3 AND message_id IS NULL AND created_at > $5
"""
_SAVE_READ: Final = """
UPDATE conversations SET buyer_unread = CASE $2 WHEN 'buyer' THEN 0 ELSE buyer_unread END,
    vendor_unread = CASE $2 WHEN 'vendor' THEN 0 ELSE vendor_unread END
WHERE id = $1
"""
# The first block stays: the other side cannot lift it by one of its own.
_SAVE_BLOCK: Final = "UPDATE conversations SET blocked_by = $2 WHERE id = $1 AND blocked_by IS NULL"
_REMOVE_BLOCK: Final = "UPDATE conversations SET blocked_by = NULL WHERE id = $1 AND blocked_by = $2"
_RECORD_STAFF_READ: Final = """
INSERT INTO conversation_reads (id, conversation_id, staff_id, read_at) VALUES ($1, $2, $3, $4)
"""


class NotifiedAt(NamedTuple):
    """The last pushes to both sides of a locked conversation."""

    buyer: datetime | None
    vendor: datetime | None


async def find_parties_of_product(uow: UnitOfWork, product_id: UUID, buyer_id: UUID) -> Parties | None:
    """Return the buyer and the vendor of a listed product; None when it is not listed."""
    row = await uow.fetch_row(_PARTIES_OF_PRODUCT, product_id)
    return None if row is None else Parties(buyer_id, *row)


async def find_parties_of_order(uow: UnitOfWork, order_id: UUID) -> Parties | None:
    """Return the parties of an order; None when it is absent or invisible."""
    row = await uow.fetch_row(_PARTIES_OF_ORDER, order_id)
    return None if row is None else Parties(*row)


async def find_parties(uow: UnitOfWork, conversation_id: UUID) -> Parties | None:
    """Return the parties of a conversation; None when it is absent or invisible."""
    row = await uow.fetch_row(_PARTIES, conversation_id)
    return None if row is None else Parties(*row)


async def find_conversation_id(
    uow: UnitOfWork, buyer_id: UUID, product_id: UUID | None, order_id: UUID | None
) -> UUID | None:
    """Return the conversation of the buyer about the product, or the one about the order."""
    found: UUID | None = (
        await uow.fetch_value(_FIND_OF_PRODUCT, buyer_id, product_id)
        if product_id is not None
        else await uow.fetch_value(_FIND_OF_ORDER, order_id)
    )
    return found


async def lock_author(uow: UnitOfWork, user_id: UUID) -> None:
    await uow.execute(_LOCK_AUTHOR, user_id)


async def list_opened(uow: UnitOfWork, user_id: UUID, window: timedelta, most: int, now: datetime) -> list[datetime]:
    """Return the times at which the user opened conversations within the window, newest first."""
    return [at for (at,) in await uow.fetch(_OPENED, user_id, now - window, most)]


async def list_written(uow: UnitOfWork, user_id: UUID, window: timedelta, most: int, now: datetime) -> list[datetime]:
    """Return the times at which the user wrote messages within the window, newest first."""
    return [at for (at,) in await uow.fetch(_WRITTEN, user_id, now - window, most)]


async def is_blocked_by(uow: UnitOfWork, parties: Parties, side: Side) -> bool:
    """Return whether this side has blocked any conversation of the two parties."""
    return bool(await uow.fetch_value(_IS_BLOCKED, parties.buyer_id, parties.vendor_id, side))


async def record_conversation_if_new(
    uow: UnitOfWork,
    conversation_id: UUID,
    parties: Parties,
    product_id: UUID | None,
    order_id: UUID | None,
    opened_by: UUID,
    now: datetime,
) -> bool:
    """Record a conversation; False when there is one already."""
    values = (parties.buyer_id, parties.vendor_id, product_id, order_id, opened_by, now)
    with refuse_during_erasure():
        return bool(await uow.fetch_value(_RECORD, conversation_id, *values))


async def lock_conversation(uow: UnitOfWork, conversation_id: UUID) -> NotifiedAt | None:
    """Return the last pushes of the conversation, locked until the transaction ends; None when it has expired."""
    row = await uow.fetch_row(_LOCK, conversation_id)
    return None if row is None else NotifiedAt(*row)


async def record_message(
    uow: UnitOfWork,
    message_id: UUID,
    author: Participant,
    text: MaskedText,
    *,
    masked: bool,
    notifies: bool,
    now: datetime,
) -> None:
    """Record a message, which is one more unread of the other side; `notifies` records a push to it."""
    await uow.execute(
        _RECORD_MESSAGE, message_id, author.conversation_id, author.side, author.user_id, text, masked, now
    )
    await uow.execute(_RECORD_ACTIVITY, author.conversation_id, author.side, now, notifies)


async def list_images_added(
    uow: UnitOfWork, user_id: UUID, window: timedelta, most: int, now: datetime
) -> list[datetime]:
    """Return the times at which the user added images within the window, newest first."""
    return [at for (at,) in await uow.fetch(_IMAGES_ADDED, user_id, now - window, most)]


async def record_image(uow: UnitOfWork, image_id: UUID, author: Participant, byte_count: int, now: datetime) -> None:
    """Record a stored image of this many bytes, which no message shows yet."""
    await uow.execute(_RECORD_IMAGE, image_id, author.conversation_id, author.user_id, byte_count, now)


async def show_image(
    uow: UnitOfWork, image_id: UUID, author: Participant, message_id: UUID, *, added_after: datetime
) -> bool:
    """Show the author's unsent image with their message; False when there is none."""
    return bool(
        await uow.execute(_SHOW_IMAGE, image_id, author.conversation_id, author.user_id, message_id, added_after)
    )


async def save_read(uow: UnitOfWork, conversation_id: UUID, side: Side) -> None:
    await uow.execute(_SAVE_READ, conversation_id, side)


async def save_block(uow: UnitOfWork, conversation_id: UUID, side: Side) -> None:
    await uow.execute(_SAVE_BLOCK, conversation_id, side)


async def remove_block(uow: UnitOfWork, conversation_id: UUID, side: Side) -> None:
    await uow.execute(_REMOVE_BLOCK, conversation_id, side)


async def record_staff_read(
    uow: UnitOfWork, read_id: UUID, conversation_id: UUID, staff_id: UUID, now: datetime
) -> None:
    await uow.execute(_RECORD_STAFF_READ, read_id, conversation_id, staff_id, now)
