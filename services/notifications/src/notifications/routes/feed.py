"""The caller's own notifications."""

from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import Header
from starlette.requests import Request
from starlette.responses import Response

from common.primitives.ids import parse_uuid
from common.primitives.problems import ValidationFailed
from common.web.event_streams import EventStream
from common.web.http import LIMIT_DEFAULT, CurrentCaller, Cursor, Limit, dependencies_of, guarded_router, ok, signed_in
from common.web.pages import created_position, cursor_page, respond_page, time_position
from common.web.responses import responses_for
from notifications import queries
from notifications.dependencies import Dependencies
from notifications.schemas import MarkAllReadRequest, MarkedRead, Notification, UnreadCount
from notifications.use_cases.feed.read_all_notifications import read_all_notifications
from notifications.use_cases.feed.read_notification import read_notification

router = guarded_router(tags=["notifications"])

_STREAM: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "model": Notification,
        "description": "Server-sent events `notification` until the token ends; the schema is that of their `data`.",
    }
}


@router.get("/api/notifications", operation_id="notifications.list", responses={200: {"model": list[Notification]}})
@signed_in
async def list_notifications(
    request: Request,
    caller: CurrentCaller,
    limit: Limit = LIMIT_DEFAULT,
    cursor: Cursor = None,
    unread: bool = False,
) -> Response:
    """Return the caller's notifications, newest first; `unread=true`: only unread ones."""
    dependencies = dependencies_of(request, Dependencies)
    scope = ["notifications", *(["unread"] if unread else []), caller.id]
    after = time_position(dependencies.cursors, scope, cursor)
    reads = dependencies.database.reads_for(caller)
    items = await queries.list_feed(reads, caller.id, after, limit + 1, unread=unread)
    page = cursor_page(
        dependencies.cursors,
        scope,
        items,
        limit,
        position_of=created_position,
        item_of=queries.notification_response,
    )
    return respond_page(request, page)


@router.get(
    "/api/notifications/unread-count", operation_id="notifications.countUnread", responses=responses_for(UnreadCount)
)
@signed_in
async def count_unread_notifications(request: Request, caller: CurrentCaller) -> Response:
    """Return the number of the caller's unread notifications."""
    reads = dependencies_of(request, Dependencies).database.reads_for(caller)
    return ok(request, {"unreadCount": await queries.count_unread(reads, caller.id)})


@router.get(
    "/api/notifications/stream",
    operation_id="notifications.stream",
    status_code=200,
    response_class=EventStream,
    responses=_STREAM,
)
@signed_in
async def stream_notifications(
    request: Request, caller: CurrentCaller, last_event_id: Annotated[str | None, Header()] = None
) -> Response:
    """Stream the caller's new notifications as events `notification` with their ids.

    The stream starts after `Last-Event-ID`, else now. Its first block has the id that it starts after, so that a client
    which loses the connection before the first event misses none. 422 for an id outside of the caller's feed; 429 above
    the limit of open streams.
    """
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        if last_event_id:
            seen = parse_uuid(last_event_id)
            position = await queries.find_position_of(uow, caller.id, seen) if seen else None
            if seen is None or position is None:
                raise ValidationFailed.of("Last-Event-ID", "is not the id of a notification of the caller")
        else:
            seen, position = await queries.find_last_position(uow, caller.id)
    streams = dependencies.feed_streams
    stream = streams.open(caller, seen, position)
    return EventStream(
        streams.events(stream),
        on_end=lambda: streams.remove(stream),
        slow_reader_seconds=streams.slow_reader_seconds,
    )


@router.post(
    "/api/notifications/read-all", operation_id="notifications.markAllRead", responses=responses_for(MarkedRead, 422)
)
@signed_in
async def mark_all_notifications_read(
    request: Request, caller: CurrentCaller, body: MarkAllReadRequest | None = None
) -> Response:
    """Mark all unread notifications as read, or those up to and including `before`."""
    dependencies = dependencies_of(request, Dependencies)
    before = body.before if body is not None else None
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        read = await read_all_notifications(uow, caller.id, dependencies.clock.now(), before)
    return ok(request, {"read": read})


@router.post(
    "/api/notifications/{notification_id}/read",
    operation_id="notifications.markRead",
    responses={200: {"model": Notification}},
)
@signed_in
async def mark_notification_read(request: Request, caller: CurrentCaller, notification_id: UUID) -> Response:
    """Mark one of the caller's notifications as read; a repetition changes nothing."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        item = await read_notification(uow, notification_id, dependencies.clock.now())
    return ok(request, queries.notification_response(item))
