"""The caller's own notifications."""

from datetime import datetime
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from common.http import LIMIT_DEFAULT, CurrentCaller, Cursor, Limit, dependencies_of, guarded_router, ok, signed_in
from notifications import queries
from notifications.schemas import NotificationShape
from notifications.use_cases.read_notification import read_notification

router = guarded_router(tags=["notifications"])


@router.get("/api/notifications", responses={200: {"model": list[NotificationShape]}})
@signed_in
async def list_notifications(
    request: Request, caller: CurrentCaller, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None
) -> Response:
    """The caller's notifications, newest first."""
    dependencies = dependencies_of(request)
    scope = ["notifications", caller.id]
    after = None
    if cursor is not None:
        at, notification_id = dependencies.cursors.open(scope, cursor)
        after = (datetime.fromisoformat(at), UUID(notification_id))
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        rows = await queries.list_feed(uow, caller.id, after, limit + 1)
    shown, has_more = rows[:limit], len(rows) > limit
    next_cursor = dependencies.cursors.sign(scope, [shown[-1]["createdAt"], shown[-1]["id"]]) if has_more else None
    return ok(request, shown, next_cursor=next_cursor, has_more=has_more, limit=limit)


@router.post("/api/notifications/{notification_id}/read", responses={200: {"model": NotificationShape}})
@signed_in
async def mark_notification_read(request: Request, caller: CurrentCaller, notification_id: UUID) -> Response:
    """Marks one of the caller's notifications as read; a repetition changes nothing."""
    dependencies = dependencies_of(request)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        notification = await read_notification(uow, notification_id, dependencies.clock.now())
    return ok(request, notification)
