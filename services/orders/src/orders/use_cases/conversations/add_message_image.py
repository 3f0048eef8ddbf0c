"""Add an image to a conversation."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.media.cleanup import expect_image
from common.primitives.problems import NotFound
from orders.domain.conversation_errors import ConversationBlocked, TooManyMessageImages
from orders.domain.conversations import IMAGES_MAX, IMAGES_WINDOW, Participant, other_side, seconds_until_free
from orders.store import conversations


async def add_message_image(
    uow: UnitOfWork, author: Participant, image_id: UUID, byte_count: int, *, now: datetime
) -> None:
    """Record the upload, which counts for the author's limit, before its file of `byte_count` bytes is stored.

    File and row are removed after a day unless a message shows the image. Runs as the service. Raises
    ConversationBlocked (403), TooManyMessageImages (429) and NotFound.
    """
    await conversations.lock_author(uow, author.user_id)
    if await conversations.is_blocked_by(uow, author.parties, other_side(author.side)):
        raise ConversationBlocked
    added = await conversations.list_images_added(uow, author.user_id, IMAGES_WINDOW, IMAGES_MAX, now)
    if (seconds := seconds_until_free(added, IMAGES_MAX, IMAGES_WINDOW, now)) is not None:
        raise TooManyMessageImages(seconds)
    if await conversations.lock_conversation(uow, author.conversation_id) is None:
        raise NotFound
    await expect_image(uow, image_id, author.conversation_id, now)
    await conversations.record_image(uow, image_id, author, byte_count, now)
