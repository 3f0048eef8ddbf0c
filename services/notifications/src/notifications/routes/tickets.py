"""Support tickets (contract section 12): customers ask, staff answer, auditors read."""

from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE, Caller
from common.media.cleanup import expect_image
from common.media.uploads import FILE_SHOWN, read_image
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from common.primitives.revisions import IfMatch, etag, revision_meant
from common.web.http import (
    LIMIT_DEFAULT,
    CurrentCaller,
    Cursor,
    Limit,
    dependencies_of,
    guarded_router,
    ok,
    requires,
    signed_in,
)
from common.web.responses import EnvelopeMeta, answers
from notifications.dependencies import Dependencies
from notifications.domain.attachments import image_name
from notifications.domain.tickets import Priority, Status
from notifications.queries import tickets as seen
from notifications.schemas.tickets import (
    AssignTicketRequest,
    AttachmentShape,
    ChangeTicketRequest,
    OpenTicketRequest,
    TicketMessageShape,
    TicketShape,
    WriteMessageRequest,
)
from notifications.use_cases.tickets.assign_ticket import assign_ticket
from notifications.use_cases.tickets.attach_image import attach_image
from notifications.use_cases.tickets.change_ticket_priority import change_ticket_priority
from notifications.use_cases.tickets.check_assignee import check_assignee
from notifications.use_cases.tickets.check_own_order import check_own_order
from notifications.use_cases.tickets.close_ticket import close_ticket
from notifications.use_cases.tickets.open_ticket import open_ticket
from notifications.use_cases.tickets.read_ticket import read_ticket
from notifications.use_cases.tickets.write_to_ticket import write_to_ticket

router = guarded_router(tags=["support"])

_STAFF: Final = ("tickets:manage", "tickets:read")
_WEBP: Final = "image/webp"
_PICTURE: Final[dict[int | str, dict[str, Any]]] = {**answers(EnvelopeMeta, 404), 200: {"content": {_WEBP: {}}}}


@router.get("/api/support-tickets", responses={200: {"model": list[TicketShape]}})
@signed_in
async def list_support_tickets(
    request: Request,
    caller: CurrentCaller,
    status: Status | None = None,
    priority: Priority | None = None,
    assignee_id: Annotated[UUID | None, Query(alias="assigneeId")] = None,
    limit: Limit = LIMIT_DEFAULT,
    cursor: Cursor = None,
) -> Response:
    """The caller's own tickets, newest first; staff and auditors see all."""
    dependencies = dependencies_of(request, Dependencies)
    scope = ["support-tickets", status or "", priority or "", assignee_id or "", caller.id, _is_staff(caller)]
    after = _position(dependencies, scope, cursor)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        rows = await seen.list_tickets(uow, status, priority, assignee_id, after, limit + 1)
    shown, has_more = rows[:limit], len(rows) > limit
    next_cursor = dependencies.cursors.sign(scope, seen.cursor_of(shown)) if has_more else None
    shapes = await _shapes(dependencies, caller, shown)
    return ok(request, shapes, next_cursor=next_cursor, has_more=has_more, limit=limit)


@router.post("/api/support-tickets", status_code=201, responses=answers(TicketShape, 422, status=201))
@signed_in
async def open_support_ticket(request: Request, caller: CurrentCaller, body: OpenTicketRequest) -> Response:
    """Opens a ticket with its first message. Runs of digits in both are masked."""
    dependencies = dependencies_of(request, Dependencies)
    if body.order_id is not None:
        await check_own_order(dependencies.database, body.order_id, caller.id)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        ticket_id = await open_ticket(
            uow, caller.id, body.subject, body.message, body.order_id, dependencies.clock.now()
        )
    return await _answer(request, caller, ticket_id, status=201)


@router.get("/api/support-tickets/{ticket_id}", responses=answers(TicketShape, 404))
@signed_in
async def show_support_ticket(request: Request, caller: CurrentCaller, ticket_id: UUID) -> Response:
    return await _answer(request, caller, ticket_id)


@router.patch("/api/support-tickets/{ticket_id}", responses=answers(TicketShape, 403, 404, 409, 422))
@requires("tickets:manage")
async def change_support_ticket(
    request: Request, caller: CurrentCaller, ticket_id: UUID, body: ChangeTicketRequest, if_match: IfMatch = None
) -> Response:
    """Says how urgent it is."""
    dependencies = dependencies_of(request, Dependencies)
    revision = revision_meant(if_match, body.revision)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await change_ticket_priority(uow, ticket_id, body.priority, revision, dependencies.clock.now())
    return await _answer(request, caller, ticket_id)


@router.post("/api/support-tickets/{ticket_id}/assign", responses=answers(TicketShape, 403, 404, 422))
@requires("tickets:manage")
async def assign_support_ticket(
    request: Request, caller: CurrentCaller, ticket_id: UUID, body: AssignTicketRequest
) -> Response:
    """Gives it to somebody who may handle tickets (`tickets:manage`)."""
    dependencies = dependencies_of(request, Dependencies)
    if body.assignee_id not in (None, caller.id):
        async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await check_assignee(uow, body.assignee_id)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await assign_ticket(uow, ticket_id, body.assignee_id, dependencies.clock.now())
    return await _answer(request, caller, ticket_id)


@router.post("/api/support-tickets/{ticket_id}/close", responses=answers(TicketShape, 403, 404))
@signed_in
async def close_support_ticket(request: Request, caller: CurrentCaller, ticket_id: UUID) -> Response:
    """Its customer or staff; again is a success without effect."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await close_ticket(uow, caller, ticket_id, dependencies.clock.now())
    return await _answer(request, caller, ticket_id)


@router.post("/api/support-tickets/{ticket_id}/read", responses=answers(TicketShape, 403, 404))
@signed_in
async def mark_support_ticket_read(request: Request, caller: CurrentCaller, ticket_id: UUID) -> Response:
    """The caller's side has read everything: the customer, or staff as a whole."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await read_ticket(uow, caller, ticket_id)
    return await _answer(request, caller, ticket_id)


@router.get(
    "/api/support-tickets/{ticket_id}/messages",
    responses={**answers(TicketMessageShape, 404), 200: {"model": list[TicketMessageShape]}},
)
@signed_in
async def list_ticket_messages(
    request: Request, caller: CurrentCaller, ticket_id: UUID, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None
) -> Response:
    """What was said, the oldest first."""
    dependencies = dependencies_of(request, Dependencies)
    scope = ["ticket-messages", ticket_id, caller.id]
    after = _position(dependencies, scope, cursor)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        if await seen.find_ticket(uow, ticket_id) is None:
            raise NotFound
        rows = await seen.list_ticket_messages(uow, ticket_id, after, limit + 1)
    shown, has_more = rows[:limit], len(rows) > limit
    position = [shown[-1]["createdAt"], shown[-1]["id"]] if has_more else []
    next_cursor = dependencies.cursors.sign(scope, position) if has_more else None
    return ok(request, shown, next_cursor=next_cursor, has_more=has_more, limit=limit)


@router.post(
    "/api/support-tickets/{ticket_id}/messages",
    status_code=201,
    responses=answers(TicketMessageShape, 403, 404, 409, 422, status=201),
)
@signed_in
async def write_ticket_message(
    request: Request, caller: CurrentCaller, ticket_id: UUID, body: WriteMessageRequest
) -> Response:
    """Its customer, who opens it again by that, or staff, whose answer the customer is told. Runs of digits are masked."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        message_id = await write_to_ticket(uow, caller, ticket_id, body.text, dependencies.clock.now())
        message = await seen.find_ticket_message(uow, message_id)
    return ok(request, message, status=201)


@router.get("/api/support-tickets/{ticket_id}/attachments", responses={200: {"model": list[AttachmentShape]}})
@signed_in
async def list_ticket_attachments(request: Request, caller: CurrentCaller, ticket_id: UUID) -> Response:
    """The pictures, the oldest first: at most twenty."""
    dependencies = dependencies_of(request, Dependencies)
    await _visible(dependencies, caller, ticket_id)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        shown = await seen.list_attachments(uow, ticket_id)
    return ok(request, shown)


@router.post(
    "/api/support-tickets/{ticket_id}/attachments",
    status_code=201,
    responses=answers(AttachmentShape, 403, 404, 409, 413, 415, 422, status=201),
    openapi_extra=FILE_SHOWN,
)
@signed_in
async def attach_ticket_image(request: Request, caller: CurrentCaller, ticket_id: UUID) -> Response:
    """A JPEG, PNG or WebP of at most 5 MiB and 25 million pixels, drawn anew without what else the file holds."""
    dependencies = dependencies_of(request, Dependencies)
    content = await read_image(request)
    await _visible(dependencies, caller, ticket_id)
    made = await dependencies.image_processor.render(content)
    attachment_id = new_id()
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await expect_image(uow, attachment_id, ticket_id, dependencies.clock.now())
    # Stored before the row names it, and outside of any transaction.
    await dependencies.media.put(image_name(attachment_id), made.picture)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        now = dependencies.clock.now()
        await attach_image(uow, caller, ticket_id, attachment_id, len(made.picture), now)
        shown = await seen.list_attachments(uow, ticket_id)
    return ok(request, next(one for one in shown if one["id"] == str(attachment_id)), status=201)


@router.get("/api/support-tickets/{ticket_id}/attachments/{attachment_id}", responses=_PICTURE, response_class=Response)
@signed_in
async def show_ticket_image(request: Request, caller: CurrentCaller, ticket_id: UUID, attachment_id: UUID) -> Response:
    """The picture itself, for whoever sees the ticket; it has no public address."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        is_there = await seen.has_attachment(uow, ticket_id, attachment_id)
    content = await dependencies.media.get(image_name(attachment_id)) if is_there else None
    if content is None:
        raise NotFound
    return Response(content, headers={"Cache-Control": "private, no-store"}, media_type=_WEBP)


def _is_staff(caller: Caller) -> bool:
    return any(caller.may(permission) for permission in _STAFF)


def _position(dependencies: Dependencies, scope: list[Any], cursor: str | None) -> tuple[datetime, UUID] | None:
    if cursor is None:
        return None
    at, identifier = dependencies.cursors.open(scope, cursor)
    return datetime.fromisoformat(at), UUID(identifier)


async def _visible(dependencies: Dependencies, caller: Caller, ticket_id: UUID) -> Any:
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        ticket = await seen.find_ticket(uow, ticket_id)
    if ticket is None:
        raise NotFound
    return ticket


async def _answer(request: Request, caller: Caller, ticket_id: UUID, *, status: int = 200) -> Response:
    dependencies = dependencies_of(request, Dependencies)
    ticket = await _visible(dependencies, caller, ticket_id)
    [shape] = await _shapes(dependencies, caller, [ticket])
    return ok(request, shape, status=status, headers=etag(shape))


async def _shapes(dependencies: Dependencies, caller: Caller, rows: list[Any]) -> list[dict[str, Any]]:
    """Who asks is shown to staff only; the row policies keep contacts from everybody, so the service itself reads them."""
    if not _is_staff(caller):
        return [seen.ticket_shape(row, caller.id) for row in rows]
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        customers = await seen.find_customers(uow, [row["user_id"] for row in rows])
    return [seen.ticket_shape(row, caller.id, customers) for row in rows]
