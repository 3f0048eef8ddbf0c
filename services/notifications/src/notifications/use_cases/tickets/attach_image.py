"""Attach a picture to a ticket."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.media.cleanup import keep_image
from common.primitives.problems import Forbidden, NotFound
from notifications.domain.errors import TicketClosed, TooManyAttachments
from notifications.domain.tickets import ATTACHMENTS_MAX, side_of, status_after
from notifications.queries import tickets as seen
from notifications.store import tickets


async def attach_image(
    uow: UnitOfWork, caller: Caller, ticket_id: UUID, attachment_id: UUID, byte_count: int, now: datetime
) -> None:
    """Names a picture that is in the store already; whoever may write may attach.

    Raises NotFound, Forbidden, TicketClosed and TooManyAttachments. A ticket that is closed is not opened again by a picture.
    """
    ticket = await seen.find_ticket(uow, ticket_id)
    if ticket is None:
        raise NotFound
    side = side_of(caller.id, ticket["user_id"], may_manage=caller.may("tickets:manage"))
    if side is None:
        raise Forbidden
    locked = await tickets.lock_ticket(uow, ticket_id)
    status = None if locked is None else status_after(locked["status"], side, locked["closed_at"], now)
    if locked is None or status is None or locked["status"] == "closed":
        raise TicketClosed
    if await tickets.count_attachments(uow, ticket_id) >= ATTACHMENTS_MAX:
        raise TooManyAttachments
    await keep_image(uow, attachment_id, now)
    await tickets.save_attachment(uow, attachment_id, ticket_id, side, caller.id, byte_count, now)
