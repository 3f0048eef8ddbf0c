"""The caller's own notifications."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import Header
from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import SIGNED_IN
from common.primitives.ids import parse_uuid
from common.primitives.problems import ValidationFailed
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.pages import RequestedPage, created_position, cursor_page, respond_page
from notifications.deliveries.queries import feed
from notifications.deliveries.responses import MarkedRead, Notification, UnreadCount
from notifications.deliveries.schemas import MarkAllReadRequest
from notifications.deliveries.use_cases.feed.read_all_notifications import read_all_notifications
from notifications.deliveries.use_cases.feed.read_notification import read_notification
from notifications.dependencies import Dependencies
from notifications.streams.event_streams import EventStream

endpoint = Endpoints("notifications")
_STREAM: Final = (
    "Server-sent events until the token ends: `notification`, whose `data` has this schema, and `message` with `{id, "
    "conversationId, author, createdAt}` for a message of a conversation."
)


@endpoint("GET", "/api/notifications", id="notifications.list", returns=list[Notification], allow=SIGNED_IN)
async def list_notifications(
    request: Request,
    caller: CurrentCaller,
    requested: RequestedPage,
    unread: bool = False,
) -> Response:
    """Return the caller's notifications, newest first; `unread=true`: only unread ones."""
    dependencies = dependencies_of(request, Dependencies)
    scope = ["notifications", *(["unread"] if unread else []), caller.id]
    after = requested.time_position(scope)
    reads = dependencies.database.reads_for(caller)
    items = await feed.list_feed(reads, caller.id, after, requested.limit + 1, unread=unread)
    page = cursor_page(
        requested,
        scope,
        items,
        position_of=created_position,
        item_of=feed.notification_response,
    )
    return respond_page(request, page)


@endpoint(
    "GET", "/api/notifications/unread-count", id="notifications.countUnread", returns=UnreadCount, allow=SIGNED_IN
)
async def count_unread_notifications(request: Request, caller: CurrentCaller) -> Response:
    """Return the number of the caller's unread notifications."""
    reads = dependencies_of(request, Dependencies).database.reads_for(caller)
    return ok(request, UnreadCount(unread_count=await feed.count_unread(reads, caller.id)))


@endpoint(
    "GET",
    "/api/notifications/stream",
    id="notifications.stream",
    returns=Notification,
    responses={200: {"description": _STREAM}},
    allow=SIGNED_IN,
    response_class=EventStream,
)
async def stream_notifications(
    request: Request, caller: CurrentCaller, last_event_id: Annotated[str | None, Header()] = None
) -> Response:
    """Stream the caller's new notifications as events `notification` with their ids, and messages as events `message`.

    The stream starts after `Last-Event-ID`, else now. Its first block has the id that it starts after, so that a client
    which loses the connection before the first event misses none. 422 for an id outside of the caller's feed; 429 above
    the limit of open streams.
    """
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        if last_event_id:
            seen = parse_uuid(last_event_id)
            position = await feed.find_position_of(uow, caller.id, seen) if seen else None
            if seen is None or position is None:
                raise ValidationFailed.of("Last-Event-ID", "is not the id of a notification of the caller")
        else:
            seen, position = await feed.find_last_position(uow, caller.id)
    streams = dependencies.feed_streams
    stream = streams.open(caller, seen, position)
    return EventStream(
        streams.events(stream),
        on_end=lambda: streams.remove(stream),
        slow_reader_seconds=streams.slow_reader_seconds,
    )


@endpoint("POST", "/api/notifications/read-all", id="notifications.markAllRead", returns=MarkedRead, allow=SIGNED_IN)
async def mark_all_notifications_read(
    request: Request, caller: CurrentCaller, body: MarkAllReadRequest | None = None
) -> Response:
    """Mark all unread notifications as read, or those up to and including `before`."""
    dependencies = dependencies_of(request, Dependencies)
    before = body.before if body is not None else None
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        read = await read_all_notifications(uow, caller.id, dependencies.clock.now(), before)
    return ok(request, MarkedRead(read=read))


@endpoint(
    "POST",
    "/api/notifications/{notification_id}/read",
    id="notifications.markRead",
    returns=Notification,
    allow=SIGNED_IN,
)
async def mark_notification_read(request: Request, caller: CurrentCaller, notification_id: UUID) -> Response:
    """Mark one of the caller's notifications as read; a repetition changes nothing."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        item = await read_notification(uow, notification_id, dependencies.clock.now())
    return ok(request, feed.notification_response(item))
