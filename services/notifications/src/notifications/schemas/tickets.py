"""Request and response models of support tickets (contract section 12)."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, Field

from common.web.schemas import RequestBody, ResponseShape
from notifications.domain.incoming_texts import MessageKind
from notifications.domain.tickets import SUBJECT_MAX, TEXT_MAX, Priority, Side, Status

Source = Literal["app", "messaging"]


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


Text = Annotated[str, Field(min_length=1, max_length=TEXT_MAX), AfterValidator(_not_blank)]


class OpenTicketRequest(RequestBody):
    """Subject and first message; `orderId` is an order that the caller bought or sells."""

    subject: Annotated[str, Field(min_length=1, max_length=SUBJECT_MAX), AfterValidator(_not_blank)]
    message: Text
    order_id: UUID | None = None


class WriteTicketMessageRequest(RequestBody):
    text: Text


class AssignTicketRequest(RequestBody):
    """A member of staff, or null to remove the assignee."""

    assignee_id: UUID | None


class UpdateTicketRequest(RequestBody):
    """Without `revision` the last writer wins; a stale one is 409."""

    priority: Priority
    revision: Annotated[int, Field(strict=True, ge=1)] | None = None


class TicketCustomer(ResponseShape):
    """The customer, for staff only. Without an id: an unknown number of the messaging app."""

    id: UUID | None
    name: str | None
    email: str | None
    phone: str | None


class Ticket(ResponseShape):
    """`unread` counts the unread messages of the reader's side; `revision` grows with status, priority and assignee."""

    id: UUID
    number: Annotated[str, Field(description="The number for people: `CT-XXXX-XXXX`.")]
    subject: str
    status: Status
    priority: Priority
    source: Source
    order_id: UUID | None
    order_number: Annotated[str | None, Field(description="The order's number for people; null where it is not known.")]
    assignee_id: UUID | None
    unread: int
    revision: int
    created_at: datetime
    updated_at: datetime
    closed_at: datetime | None
    customer: TicketCustomer | None = None


class TicketMessage(ResponseShape):
    """One message; `kind` is `text` or the messaging app's kind; `unknown` is one that it has added since."""

    id: UUID
    ticket_id: UUID
    author: Side
    author_id: UUID | None
    source: Source
    kind: MessageKind
    text: str
    created_at: datetime


class TicketAttachment(ResponseShape):
    """An image of a ticket; `url` is a path of this API and needs the reader's token."""

    id: UUID
    ticket_id: UUID
    author: Side
    byte_count: int
    url: str
    created_at: datetime
