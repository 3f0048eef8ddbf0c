"""Writes of notifications with their deliveries."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.observability.telemetry import trace_headers
from contracts.notifications import NotificationShown
from notifications.domain.deliveries import NotificationRequest
from notifications.domain.feed import FeedEntry

# One round trip for each event. The row of the feed stays locked until the commit, so positions become visible in their
# order.
_RECORD: Final = """
WITH next AS (
    INSERT INTO feeds AS f (user_id, last)
    SELECT $2, 1 WHERE $4::text IS NOT NULL AND NOT EXISTS (SELECT FROM notifications WHERE id = $1)
    ON CONFLICT (user_id) DO UPDATE SET last = f.last + 1
    RETURNING last, streamed_until > $6 AS is_streamed
), notification AS (
    INSERT INTO notifications (id, user_id, template, title, body, created_at, place, subject)
    SELECT $1, $2, $3, $4, $5, $6, (SELECT last FROM next), $15::jsonb
    WHERE $4::text IS NULL OR EXISTS (SELECT FROM next)
    ON CONFLICT (id) DO NOTHING RETURNING id
), queued AS (
    INSERT INTO notification_deliveries
        (id, notification_id, channel, recipient, template, payload, sealed, status, created_at, due_at, is_urgent, traceparent)
    SELECT q.id, $1, q.channel, q.recipient, $3, $7::jsonb, $8::jsonb, 'queued', $6, q.due_at, $9, $10
    FROM unnest($11::uuid[], $12::text[], $13::text[], $14::timestamptz[]) AS q (id, channel, recipient, due_at)
    ON CONFLICT (notification_id, channel, recipient) DO NOTHING RETURNING id
)
SELECT EXISTS (SELECT FROM notification) AS is_new, (SELECT is_streamed FROM next) AS is_streamed,
    ARRAY(SELECT id FROM queued) AS delivery_ids
"""
_OWNER: Final = "SELECT user_id FROM notifications WHERE id = $1"


class QueuedDelivery(NamedTuple):
    """A delivery to insert; it is sent from `due_at` on."""

    id: UUID
    channel: str
    recipient: str
    due_at: datetime


async def record_notification(
    uow: UnitOfWork,
    request: NotificationRequest,
    entry: FeedEntry | None,
    deliveries: Sequence[QueuedDelivery],
    payload: Mapping[str, object],
    now: datetime,
    *,
    is_urgent: bool,
) -> Collection[UUID] | None:
    """Insert the notification and its deliveries, each if new; return the ids of the new deliveries.

    None when the id belongs to another user's notification; then the transaction must roll back. A new feed entry is
    published if a process streams the feed.
    """
    title, body = (entry.title, entry.body) if entry else (None, None)
    [row] = await uow.fetch(
        _RECORD,
        request.notification_id,
        request.user_id,
        request.template,
        title,
        body,
        now,
        dict(payload),
        {name: {"text": one.text, "context": one.context} for name, one in request.encrypted.items()},
        is_urgent,
        trace_headers().get("traceparent"),
        *(list(column) for column in zip(*deliveries, strict=True)) if deliveries else ([], [], [], []),
        None if request.subject is None else request.subject.content,
    )
    if not row["is_new"]:
        owner: UUID | None = await uow.fetch_value(_OWNER, request.notification_id)
        return set(row["delivery_ids"]) if owner == request.user_id else None
    if row["is_streamed"] and request.user_id is not None:
        uow.publish(NotificationShown(user_id=request.user_id, notification_id=request.notification_id))
    return set(row["delivery_ids"])
