"""Support tickets (contract section 12) for customers, staff and auditors."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Annotated, Final, Literal
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE, Caller
from common.auth.guards import SIGNED_IN, one_of, permission
from common.media.cleanup import expect_image
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from common.primitives.public_numbers import NumberKind, described_search
from common.primitives.revisions import IfMatch, etag, revision_meant
from common.web.endpoint_table import Media
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, QueryText, dependencies_of, ok
from common.web.pages import RequestedPage, created_position, cursor_page, respond_page
from common.web.uploads import read_image
from notifications.deliveries import Contact, find_contacts
from notifications.dependencies import Dependencies
from notifications.support.domain.attachments import image_name
from notifications.support.domain.tickets import Priority, Status
from notifications.support.queries import tickets as queries
from notifications.support.responses.tickets import Ticket, TicketAttachment, TicketMessage, TicketNote
from notifications.support.schemas import (
    AssignTicketRequest,
    OpenTicketRequest,
    UpdateTicketRequest,
    WriteTicketMessageRequest,
    WriteTicketNoteRequest,
)
from notifications.support.use_cases.tickets.assign_ticket import assign_ticket
from notifications.support.use_cases.tickets.attach_image import attach_image
from notifications.support.use_cases.tickets.change_ticket_priority import change_ticket_priority
from notifications.support.use_cases.tickets.check_assignee import check_assignee
from notifications.support.use_cases.tickets.check_note_access import check_note_access
from notifications.support.use_cases.tickets.check_own_order import check_own_order
from notifications.support.use_cases.tickets.close_ticket import close_ticket
from notifications.support.use_cases.tickets.note_on_ticket import note_on_ticket
from notifications.support.use_cases.tickets.open_ticket import open_ticket
from notifications.support.use_cases.tickets.read_ticket import read_ticket
from notifications.support.use_cases.tickets.write_to_ticket import write_to_ticket

endpoint = Endpoints("support")

_STAFF: Final = ("tickets:manage", "tickets:read")
_WEBP: Final = "image/webp"


@dataclass(frozen=True, slots=True)
class TicketSearch:
    """The filters that find a ticket by what it is about."""

    text: str | None
    order_id: UUID | None
    user_id: UUID | None


def _search_of(
    text: Annotated[
        QueryText | None,
        Query(alias="q", min_length=3, max_length=100, description="A part of the subject or of a message."),
    ] = None,
    order_id: Annotated[UUID | None, Query(alias="orderId")] = None,
    user_id: Annotated[UUID | None, Query(alias="userId", description="Tickets of this customer.")] = None,
) -> TicketSearch:
    return TicketSearch(text, order_id, user_id)


def _filter_of(
    search: Annotated[TicketSearch, Depends(_search_of)],
    status: Status | None = None,
    priority: Priority | None = None,
    assignee_id: Annotated[UUID | None, Query(alias="assigneeId")] = None,
    awaiting: Annotated[
        Literal["answer"] | None,
        Query(description="Only open ones of others that are assigned to the caller or to nobody."),
    ] = None,
    number: Annotated[
        QueryText | None,
        Query(max_length=100, description=described_search(NumberKind.TICKET) + "."),
    ] = None,
) -> queries.TicketFilter:
    return queries.TicketFilter(status, priority, assignee_id, awaiting, number, *astuple(search))


@endpoint("GET", "/api/support-tickets", id="tickets.list", returns=list[Ticket], allow=SIGNED_IN)
async def list_support_tickets(
    request: Request,
    caller: CurrentCaller,
    requested: RequestedPage,
    narrowed: Annotated[queries.TicketFilter, Depends(_filter_of)],
) -> Response:
    """Return the caller's own tickets, newest first; staff and auditors see all."""
    dependencies = dependencies_of(request, Dependencies)
    given = (value or "" for value in astuple(narrowed))
    scope = ["support-tickets", *given, caller.id, _is_staff(caller)]
    after = requested.time_position(scope)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        tickets = await queries.list_tickets(uow, narrowed, after, requested.limit + 1)
    customers = await _customers(dependencies, caller, tickets[: requested.limit])
    page = cursor_page(
        requested,
        scope,
        tickets,
        position_of=created_position,
        item_of=lambda ticket: queries.ticket_response(ticket, caller.id, customers),
    )
    return respond_page(request, page)


@endpoint("POST", "/api/support-tickets", id="tickets.open", returns=Ticket, status=201, allow=SIGNED_IN)
async def open_support_ticket(request: Request, caller: CurrentCaller, body: OpenTicketRequest) -> Response:
    """Open a ticket with its first message. Runs of digits in both are masked."""
    dependencies = dependencies_of(request, Dependencies)
    if body.order_id is not None:
        await check_own_order(dependencies.database, body.order_id, caller.id)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        ticket_id = await open_ticket(
            uow, caller.id, body.subject, body.message, body.order_id, dependencies.clock.now()
        )
    return await _ticket_response(request, caller, ticket_id, status=201)


@endpoint("GET", "/api/support-tickets/{ticket_id}", id="tickets.get", returns=Ticket, allow=SIGNED_IN)
async def get_support_ticket(request: Request, caller: CurrentCaller, ticket_id: UUID) -> Response:
    """Return one ticket; `customer` is shown to staff only."""
    return await _ticket_response(request, caller, ticket_id)


@endpoint(
    "PATCH", "/api/support-tickets/{ticket_id}", id="tickets.update", returns=Ticket, allow=permission("tickets:manage")
)
async def update_support_ticket(
    request: Request, caller: CurrentCaller, ticket_id: UUID, body: UpdateTicketRequest, if_match: IfMatch = None
) -> Response:
    """Change the priority."""
    dependencies = dependencies_of(request, Dependencies)
    revision = revision_meant(if_match, body.revision)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await change_ticket_priority(uow, ticket_id, body.priority, revision, dependencies.clock.now())
    return await _ticket_response(request, caller, ticket_id)


@endpoint(
    "POST",
    "/api/support-tickets/{ticket_id}/assign",
    id="tickets.assign",
    returns=Ticket,
    allow=permission("tickets:manage"),
)
async def assign_support_ticket(
    request: Request, caller: CurrentCaller, ticket_id: UUID, body: AssignTicketRequest
) -> Response:
    """Assign it to a user who may manage tickets (`tickets:manage`)."""
    dependencies = dependencies_of(request, Dependencies)
    if body.assignee_id not in (None, caller.id):
        async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await check_assignee(uow, body.assignee_id)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await assign_ticket(uow, ticket_id, body.assignee_id, dependencies.clock.now())
    return await _ticket_response(request, caller, ticket_id)


@endpoint("POST", "/api/support-tickets/{ticket_id}/close", id="tickets.close", returns=Ticket, allow=SIGNED_IN)
async def close_support_ticket(request: Request, caller: CurrentCaller, ticket_id: UUID) -> Response:
    """Close it as its customer or as staff; a repetition has no effect."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await close_ticket(uow, caller, ticket_id, dependencies.clock.now())
    return await _ticket_response(request, caller, ticket_id)


@endpoint("POST", "/api/support-tickets/{ticket_id}/read", id="tickets.markRead", returns=Ticket, allow=SIGNED_IN)
async def mark_support_ticket_read(request: Request, caller: CurrentCaller, ticket_id: UUID) -> Response:
    """Mark all messages as read for the caller's side: the customer, or all staff."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await read_ticket(uow, caller, ticket_id)
    return await _ticket_response(request, caller, ticket_id)


@endpoint(
    "GET",
    "/api/support-tickets/{ticket_id}/messages",
    id="tickets.listMessages",
    returns=list[TicketMessage],
    allow=SIGNED_IN,
)
async def list_ticket_messages(
    request: Request, caller: CurrentCaller, ticket_id: UUID, requested: RequestedPage
) -> Response:
    """Return the messages of a ticket, oldest first."""
    dependencies = dependencies_of(request, Dependencies)
    scope = ["ticket-messages", ticket_id, caller.id]
    after = requested.time_position(scope)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        if await queries.find_ticket(uow, ticket_id) is None:
            raise NotFound
        messages = await queries.list_ticket_messages(uow, ticket_id, after, requested.limit + 1)
    page = cursor_page(requested, scope, messages, position_of=_written, item_of=lambda message: message)
    return respond_page(request, page)


@endpoint(
    "POST",
    "/api/support-tickets/{ticket_id}/messages",
    id="tickets.addMessage",
    returns=TicketMessage,
    status=201,
    allow=SIGNED_IN,
)
async def add_ticket_message(
    request: Request, caller: CurrentCaller, ticket_id: UUID, body: WriteTicketMessageRequest
) -> Response:
    """Write as its customer, which reopens it, or as staff, which notifies the customer. Runs of digits are masked."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        message_id = await write_to_ticket(uow, caller, ticket_id, body.text, dependencies.clock.now())
        message = await queries.find_ticket_message(uow, message_id)
    return ok(request, message, status=201)


@endpoint(
    "GET",
    "/api/support-tickets/{ticket_id}/notes",
    id="tickets.listNotes",
    returns=list[TicketNote],
    allow=one_of(*_STAFF),
)
async def list_ticket_notes(
    request: Request, caller: CurrentCaller, ticket_id: UUID, requested: RequestedPage
) -> Response:
    """Return the internal notes of a ticket, oldest first; never to its customer."""
    dependencies = dependencies_of(request, Dependencies)
    scope = ["ticket-notes", ticket_id, caller.id]
    after = requested.time_position(scope)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await check_note_access(uow, caller, ticket_id)
        notes = await queries.list_ticket_notes(uow, ticket_id, after, requested.limit + 1)
    page = cursor_page(requested, scope, notes, position_of=_written, item_of=lambda note: note)
    return respond_page(request, page)


@endpoint(
    "POST",
    "/api/support-tickets/{ticket_id}/notes",
    id="tickets.addNote",
    returns=TicketNote,
    status=201,
    allow=permission("tickets:manage"),
)
async def add_ticket_note(
    request: Request, caller: CurrentCaller, ticket_id: UUID, body: WriteTicketNoteRequest
) -> Response:
    """Write an internal note, which staff and auditors read. Runs of digits are masked."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        note_id = await note_on_ticket(uow, caller, ticket_id, body.text, dependencies.clock.now())
        note = await queries.find_ticket_note(uow, note_id)
    return ok(request, note, status=201)


@endpoint(
    "GET",
    "/api/support-tickets/{ticket_id}/attachments",
    id="tickets.listAttachments",
    returns=list[TicketAttachment],
    allow=SIGNED_IN,
)
async def list_ticket_attachments(request: Request, caller: CurrentCaller, ticket_id: UUID) -> Response:
    """Return the images of a ticket, oldest first: at most twenty."""
    dependencies = dependencies_of(request, Dependencies)
    await _visible_ticket(dependencies, caller, ticket_id)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        shown = await queries.list_attachments(uow, ticket_id)
    return ok(request, shown)


@endpoint(
    "POST",
    "/api/support-tickets/{ticket_id}/attachments",
    id="tickets.addAttachment",
    returns=TicketAttachment,
    status=201,
    allow=SIGNED_IN,
    media=Media.IMAGE,
)
async def add_ticket_attachment(request: Request, caller: CurrentCaller, ticket_id: UUID) -> Response:
    """Attach a JPEG, PNG or WebP of at most 5 MiB and 25 million pixels, re-encoded without metadata."""
    dependencies = dependencies_of(request, Dependencies)
    content = await read_image(request)
    await _visible_ticket(dependencies, caller, ticket_id)
    image = await dependencies.image_processor.render(content)
    attachment_id = new_id()
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await expect_image(uow, attachment_id, ticket_id, dependencies.clock.now())
    # Stored before the row references it, and outside of any transaction.
    await dependencies.media.put(image_name(attachment_id), image.image)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        now = dependencies.clock.now()
        await attach_image(uow, caller, ticket_id, attachment_id, len(image.image), now)
        shown = await queries.list_attachments(uow, ticket_id)
    return ok(request, next(each for each in shown if each.id == attachment_id), status=201)


@endpoint(
    "GET",
    "/api/support-tickets/{ticket_id}/attachments/{attachment_id}",
    id="tickets.getAttachment",
    content=_WEBP,
    allow=SIGNED_IN,
)
async def get_ticket_image(request: Request, caller: CurrentCaller, ticket_id: UUID, attachment_id: UUID) -> Response:
    """Return the image, for readers of the ticket; it has no public address."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        is_there = await queries.has_attachment(uow, ticket_id, attachment_id)
    content = await dependencies.media.get(image_name(attachment_id)) if is_there else None
    if content is None:
        raise NotFound
    return Response(content, headers={"Cache-Control": "private, no-store"}, media_type=_WEBP)


def _written(row: TicketMessage | TicketNote) -> Sequence[str]:
    return str(row.created_at), str(row.id)


def _is_staff(caller: Caller) -> bool:
    return any(caller.may(permission) for permission in _STAFF)


async def _visible_ticket(dependencies: Dependencies, caller: Caller, ticket_id: UUID) -> queries.TicketRow:
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        ticket = await queries.find_ticket(uow, ticket_id)
    if ticket is None:
        raise NotFound
    return ticket


async def _ticket_response(request: Request, caller: Caller, ticket_id: UUID, *, status: int = 200) -> Response:
    dependencies = dependencies_of(request, Dependencies)
    ticket = await _visible_ticket(dependencies, caller, ticket_id)
    customers = await _customers(dependencies, caller, [ticket])
    shown = queries.ticket_response(ticket, caller.id, customers)
    return ok(request, shown, status=status, headers=etag(shown.revision))


async def _customers(
    dependencies: Dependencies, caller: Caller, tickets: Sequence[queries.TicketRow]
) -> dict[UUID, Contact] | None:
    """Return the customers for staff, else None. Row security hides contacts, so the service reads them."""
    if not _is_staff(caller):
        return None
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        return await find_contacts(uow, [ticket.user_id for ticket in tickets])
