"""The caller's own notifications."""

from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import Header
from starlette.requests import Request
from starlette.responses import Response

from common.primitives.ids import parse_uuid
from common.primitives.problems import ValidationFailed
from common.web.event_streams import EventStream
from common.web.http import LIMIT_DEFAULT, CurrentCaller, Cursor, Limit, dependencies_of, guarded_router, ok, signed_in
from common.web.responses import answers
from notifications import queries
from notifications.dependencies import Dependencies
from notifications.schemas import NotificationShape, ReadAllRequest, ReadAllShape, UnreadCountShape
from notifications.use_cases.feed.read_all_notifications import read_all_notifications
from notifications.use_cases.feed.read_notification import read_notification

router = guarded_router(tags=["notifications"])

_STREAM: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "Events `notification`, until the token ends.", "content": {"text/event-stream": {}}}
}


@router.get("/api/notifications", responses={200: {"model": list[NotificationShape]}})
@signed_in
async def list_notifications(
    request: Request,
    caller: CurrentCaller,
    limit: Limit = LIMIT_DEFAULT,
    cursor: Cursor = None,
    unread: bool = False,
) -> Response:
    """The caller's notifications, newest first; `unread=true`: only what is not read."""
    dependencies = dependencies_of(request, Dependencies)
    scope = ["notifications", *(["unread"] if unread else []), caller.id]
    after = None
    if cursor is not None:
        at, notification_id = dependencies.cursors.open(scope, cursor)
        after = (datetime.fromisoformat(at), UUID(notification_id))
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        rows = await queries.list_feed(uow, caller.id, after, limit + 1, unread=unread)
    shown, has_more = rows[:limit], len(rows) > limit
    next_cursor = dependencies.cursors.sign(scope, [shown[-1]["createdAt"], shown[-1]["id"]]) if has_more else None
    return ok(request, shown, next_cursor=next_cursor, has_more=has_more, limit=limit)


@router.get("/api/notifications/unread-count", responses=answers(UnreadCountShape))
@signed_in
async def count_unread_notifications(request: Request, caller: CurrentCaller) -> Response:
    """How many of the caller's notifications are not read."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        unread = await queries.count_unread(uow, caller.id)
    return ok(request, {"unreadCount": unread})


@router.get("/api/notifications/stream", status_code=200, response_class=EventStream, responses=_STREAM)
@signed_in
async def stream_notifications(
    request: Request, caller: CurrentCaller, last_event_id: Annotated[str | None, Header()] = None
) -> Response:
    """The caller's new notifications as they come: events `notification`, each with its own id.

    With `Last-Event-ID` from after that one, else from now on. 422 for an id that is not in the caller's feed; 429 for one
    stream too many.
    """
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        if last_event_id:
            seen = parse_uuid(last_event_id)
            place = await queries.find_place_of(uow, caller.id, seen) if seen else None
            if place is None:
                raise ValidationFailed.of("Last-Event-ID", "is not the id of a notification of the caller")
        else:
            place = await queries.find_last_place(uow, caller.id)
    streams = dependencies.feed_streams
    stream = streams.open(caller, place)
    return EventStream(
        streams.events(stream),
        on_end=lambda: streams.leave(stream),
        slow_reader_seconds=streams.slow_reader_seconds,
    )


@router.post("/api/notifications/read-all", responses=answers(ReadAllShape, 422))
@signed_in
async def mark_all_notifications_read(
    request: Request, caller: CurrentCaller, body: ReadAllRequest | None = None
) -> Response:
    """Marks what is not read as read: all of it, or what came up to and with `before`."""
    dependencies = dependencies_of(request, Dependencies)
    before = body.before if body is not None else None
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        read = await read_all_notifications(uow, caller.id, dependencies.clock.now(), before)
    return ok(request, read)


@router.post("/api/notifications/{notification_id}/read", responses={200: {"model": NotificationShape}})
@signed_in
async def mark_notification_read(request: Request, caller: CurrentCaller, notification_id: UUID) -> Response:
    """Marks one of the caller's notifications as read; a repetition changes nothing."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        notification = await read_notification(uow, notification_id, dependencies.clock.now())
    return ok(request, notification)
