"""Writes of notifications with their deliveries."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from common.database.outbox import Writes
from common.database.unit_of_work import UnitOfWork
from common.primitives.json_records import Json
from contracts.notifications import NotificationShown
from notifications.deliveries.domain.deliveries import NotificationRequest
from notifications.deliveries.domain.feed import FeedEntry

# One round trip for all notifications of a transaction. The rows of their feeds are locked in the order of the users,
# so that transactions do not deadlock, and stay locked until the commit: positions become visible in their order.
_RECORD: Final = Writes(
    """
requested AS MATERIALIZED (
    SELECT * FROM unnest(
        $1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::jsonb[], $7::jsonb[], $8::jsonb[],
        $9::boolean[], $10::text[]
    ) WITH ORDINALITY AS r (id, user_id, template, title, body, subject, payload, sealed, is_urgent, traceparent,
    number)
), shown AS MATERIALIZED (
    SELECT id, user_id, count(*) OVER (PARTITION BY user_id) - row_number() OVER (PARTITION BY user_id ORDER BY number)
        AS later
    FROM requested r WHERE title IS NOT NULL AND NOT EXISTS (SELECT FROM notifications n WHERE n.id = r.id)
), next AS (
    INSERT INTO feeds AS f (user_id, last) SELECT user_id, count(*) FROM shown GROUP BY user_id ORDER BY user_id
    ON CONFLICT (user_id) DO UPDATE SET last = f.last + excluded.last
    RETURNING user_id, last, streamed_until > $11 AS is_streamed
), notification AS (
    INSERT INTO notifications (id, user_id, template, title, body, created_at, place, subject)
    SELECT r.id, r.user_id, r.template, r.title, r.body, $11, next.last - shown.later, r.subject
    FROM requested r LEFT JOIN (shown JOIN next USING (user_id)) ON shown.id = r.id
    WHERE r.title IS NULL OR shown.id IS NOT NULL
    ORDER BY r.id ON CONFLICT (id) DO NOTHING RETURNING id
), queued AS (
    INSERT INTO notification_deliveries (
        id, notification_id, channel, recipient, template, payload, sealed, status, attempts, claim_id, claimed_at,
        created_at, due_at, is_urgent, traceparent
    )
    SELECT q.id, r.id, q.channel, q.recipient, r.template, r.payload, r.sealed, 'queued', num_nonnulls(q.claim_id),
        q.claim_id, CASE WHEN q.claim_id IS NOT NULL THEN $11 END, $11, CASE WHEN q.claim_id IS NULL THEN q.due_at END,
        r.is_urgent, r.traceparent
    FROM unnest($12::uuid[], $13::uuid[], $14::text[], $15::text[], $16::timestamptz[], $17::uuid[])
        AS q (id, notification_id, channel, recipient, due_at, claim_id)
    JOIN requested r ON r.id = q.notification_id
    ON CONFLICT (notification_id, channel, recipient) DO NOTHING RETURNING id
)
""",
    """
ARRAY(SELECT id FROM notification) AS notification_ids, ARRAY(SELECT id FROM queued) AS delivery_ids,
    ARRAY(SELECT user_id FROM next WHERE is_streamed) AS streaming_users
""",
    # Nothing is compared with known notifications, and nothing is published.
    final="""
(SELECT count(*) FROM notification) = (SELECT count(*) FROM requested)
    AND NOT EXISTS (SELECT FROM next WHERE is_streamed)
""",
)
_RECORD_FIRST: Final = _RECORD._replace(final=None)
_OWNED_OTHERWISE: Final = """
SELECT EXISTS (
    SELECT FROM unnest($1::uuid[], $2::uuid[]) AS r (id, user_id)
    JOIN notifications n ON n.id = r.id AND n.user_id IS DISTINCT FROM r.user_id
)
"""


class QueuedDelivery(NamedTuple):
    """A delivery to insert; it is sent from `due_at` on. With a `claim_id` it is claimed by its own transaction."""

    id: UUID
    channel: str
    recipient: str
    due_at: datetime
    claim_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class NewNotification:
    """A notification to insert with its deliveries. Without an `entry` the feed does not show it."""

    request: NotificationRequest
    entry: FeedEntry | None
    payload: Mapping[str, Json]
    is_urgent: bool
    traceparent: str | None
    deliveries: Sequence[QueuedDelivery]

    @property
    def sealed(self) -> dict[str, dict[str, str]]:
        """The column `sealed` of the deliveries."""
        return {name: {"text": one.text, "context": one.context} for name, one in self.request.encrypted.items()}


async def record_notifications(
    uow: UnitOfWork, notifications: Sequence[NewNotification], now: datetime, *, is_final: bool = False
) -> Collection[UUID] | None:
    """Insert the notifications and their deliveries, each if new; return the ids of the new deliveries.

    None when an id belongs to another user's notification; then the transaction must roll back. A new feed entry is
    published if a process streams the feed. With `is_final` they may be the last writes of their transaction.
    """
    first: dict[UUID, NewNotification] = {}
    for one in notifications:
        first.setdefault(one.request.notification_id, one)
    requested = [
        (
            one.request.notification_id,
            one.request.user_id,
            one.request.template,
            one.entry.title if one.entry else None,
            one.entry.body if one.entry else None,
            None if one.request.subject is None else one.request.subject.content,
            dict(one.payload),
            one.sealed,
            one.is_urgent,
            one.traceparent,
        )
        for one in first.values()
    ]
    queued = [
        (each.id, one.request.notification_id, each.channel, each.recipient, each.due_at, each.claim_id)
        for one in notifications
        for each in one.deliveries
    ]
    writes = _RECORD if is_final else _RECORD_FIRST
    row = await uow.fetch_row_with_attached(writes, *_columns(requested, 10), now, *_columns(queued, 6))
    new = set(row["notification_ids"])
    known = [one.request for one in first.values() if one.request.notification_id not in new]
    if known and await uow.fetch_value(
        _OWNED_OTHERWISE, [request.notification_id for request in known], [request.user_id for request in known]
    ):
        return None
    for one in first.values():
        user_id, notification_id = one.request.user_id, one.request.notification_id
        if one.entry and notification_id in new and user_id is not None and user_id in row["streaming_users"]:
            uow.publish(NotificationShown(user_id=user_id, notification_id=notification_id))
    return set(row["delivery_ids"])


def _columns(rows: Sequence[tuple[object, ...]], count: int) -> list[list[object]]:
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in range(count)]
