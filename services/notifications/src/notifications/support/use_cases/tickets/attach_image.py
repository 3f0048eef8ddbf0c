"""Attach an image to a ticket."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.media.cleanup import cancel_image_removal
from notifications.support.domain.errors import TicketClosed, TooManyAttachments
from notifications.support.domain.tickets import ATTACHMENTS_MAX
from notifications.support.store import tickets
from notifications.support.use_cases.tickets.check_write_access import check_write_access


async def attach_image(
    uow: UnitOfWork, caller: Caller, ticket_id: UUID, attachment_id: UUID, byte_count: int, now: datetime
) -> None:
    """Record an uploaded image. It does not reopen a closed ticket.

    Raises NotFound, Forbidden, TicketClosed and TooManyAttachments.
    """
    side = await check_write_access(uow, caller, ticket_id)
    locked = await tickets.lock_ticket(uow, ticket_id)
    if locked is None or locked.status == "closed":
        raise TicketClosed
    if await tickets.count_attachments(uow, ticket_id) >= ATTACHMENTS_MAX:
        raise TooManyAttachments
    await cancel_image_removal(uow, attachment_id, now)
    await tickets.save_attachment(uow, attachment_id, ticket_id, side, caller.id, byte_count, now)
