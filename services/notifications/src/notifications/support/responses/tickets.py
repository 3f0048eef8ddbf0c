"""Response models of support tickets (contract section 12)."""

from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp
from notifications.support.domain.incoming_texts import MessageKind
from notifications.support.domain.tickets import Priority, Side, Status

Source = Literal["app", "messaging"]


class TicketCustomer(ResponseModel):
    """The customer, for staff only. Without an id: an unknown number of the messaging app."""

    id: UUID | None
    name: str | None
    email: str | None
    phone: str | None


class Ticket(ResponseModel, omit_defaults=True):
    """`unread` counts the unread messages of the reader's side; `revision` grows with status, priority and assignee."""

    id: UUID
    number: Annotated[str, Meta(description="The number for people: `CT-XXXX-XXXX`.")]
    subject: str
    status: Status
    priority: Priority
    source: Source
    order_id: UUID | None
    order_number: Annotated[str | None, Meta(description="The order's number for people; null where it is not known.")]
    assignee_id: UUID | None
    unread: Annotated[int, Meta(description="The number of unread messages.")]
    revision: int
    created_at: Timestamp
    updated_at: Timestamp
    closed_at: Timestamp | None
    customer: Annotated[TicketCustomer | None, Meta(description="The customer, for staff only.")] = None


class TicketMessage(ResponseModel):
    """One message; `kind` is `text` or the messaging app's kind; `unknown` is one that it has added since."""

    id: UUID
    ticket_id: UUID
    author: Side
    author_id: Annotated[
        UUID | None, Meta(description="The user who wrote it; null for the messaging app and for erased users.")
    ]
    source: Source
    kind: MessageKind
    text: str
    created_at: Timestamp


class TicketNote(ResponseModel):
    """A note of staff to staff; its customer and vendors never see it."""

    id: UUID
    ticket_id: UUID
    author_id: Annotated[UUID, Meta(description="The member of staff who wrote it.")]
    text: Annotated[str, Meta(description="The note; runs of digits are masked.")]
    created_at: Timestamp


class TicketAttachment(ResponseModel):
    """An image of a ticket; `url` is a path of this API and needs the reader's token."""

    id: UUID
    ticket_id: UUID
    author: Side
    byte_count: int
    url: str
    created_at: Timestamp
