"""Post a message."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.media.cleanup import UNREFERENCED_LIFE, cancel_image_removal
from common.primitives.clock import iso
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from contracts.orders import MessagePosted
from orders.domain.conversation_errors import ConversationBlocked, TooManyMessages, UnknownMessageImage
from orders.domain.conversations import (
    MESSAGES_MAX,
    MESSAGES_WINDOW,
    Participant,
    is_push_due,
    other_side,
    seconds_until_free,
)
from orders.domain.message_texts import mask_pins
from orders.store import conversations


async def post_message(
    uow: UnitOfWork,
    author: Participant,
    text: str,
    *,
    image_id: UUID | None = None,
    pin_digits: int,
    now: datetime,
) -> UUID:
    """Store the masked text, count it as unread of the other side and publish it. Returns the id of the message.

    `image_id` is an image that the caller added to this conversation, and that no message shows. Runs as the service.
    Raises ConversationBlocked (403), TooManyMessages (429), UnknownMessageImage (422), NotFound, and MediaUnavailable
    (503) while the image is being removed.
    """
    await conversations.lock_author(uow, author.user_id)
    if await conversations.is_blocked_by(uow, author.parties, other_side(author.side)):
        raise ConversationBlocked
    written = await conversations.list_written(uow, author.user_id, MESSAGES_WINDOW, MESSAGES_MAX, now)
    if (seconds := seconds_until_free(written, MESSAGES_MAX, MESSAGES_WINDOW, now)) is not None:
        raise TooManyMessages(seconds)
    notified_at = await conversations.lock_conversation(uow, author.conversation_id)
    if notified_at is None:
        raise NotFound
    notifies = is_push_due(notified_at.vendor if author.side == "buyer" else notified_at.buyer, now)
    masked_text, message_id = mask_pins(text, pin_digits), new_id()
    await conversations.record_message(
        uow,
        message_id,
        author,
        masked_text,
        masked=masked_text != text,
        notifies=notifies,
        now=now,
    )
    if image_id is not None:
        added_after = now - UNREFERENCED_LIFE
        if not await conversations.show_image(uow, image_id, author, message_id, added_after=added_after):
            raise UnknownMessageImage
        await cancel_image_removal(uow, image_id, now)
    if author.reader_id is not None:
        uow.publish(
            MessagePosted(
                conversation_id=author.conversation_id,
                message_id=message_id,
                author=author.side,
                reader_id=author.reader_id,
                vendor_id=author.parties.vendor_id,
                notifies=notifies,
                posted_at=iso(now),
            )
        )
    return message_id
