"""Request models of support tickets (contract section 12)."""

from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, Field

from common.web.schemas import RequestBody
from notifications.support.domain.tickets import SUBJECT_MAX, TEXT_MAX, Priority


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


class WriteTicketNoteRequest(RequestBody):
    text: Text


class AssignTicketRequest(RequestBody):
    """A member of staff, or null to remove the assignee."""

    assignee_id: UUID | None


class UpdateTicketRequest(RequestBody):
    """Without `revision` the last writer wins; a stale one is 409."""

    priority: Priority
    revision: Annotated[int, Field(strict=True, ge=1, le=2**31 - 1)] | None = None
