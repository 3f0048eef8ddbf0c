"""Hear from a provider how far a message got."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.observability import telemetry
from contracts.notifications import DeliverySettled
from notifications import store
from notifications.domain.errors import MessageUnknown
from notifications.domain.statuses import LOST, Status, climbs
from notifications.use_cases.deliveries.publish_delivery_lost import publish_delivery_lost


async def record_delivery_status(
    uow: UnitOfWork,
    channel: str,
    provider_message_id: str,
    status: Status,
    at: datetime,
    *,
    delivery_id: UUID | None = None,
) -> bool:
    """Climbs the attempt and its delivery, and never lets them down again (contract sections 9 and 12); whether it was news.

    `at` is the provider's own time; `delivery_id` is our id where the provider repeats it. A failure of an attempt that was
    followed by another says nothing of the delivery.
    That it was taken is believed before our own record of it, where our id says which message is meant: its worker may have died.
    Raises MessageUnknown when we have not written the message down yet: the retry ladder brings the news again.
    """
    found = await store.find_reported_delivery(uow, channel, provider_message_id, delivery_id)
    row = None if found is None else await store.lock_delivery(uow, found)
    attempt = None if row is None else await store.find_reported_attempt(uow, row["id"], provider_message_id)
    if row is None or attempt is None:
        raise MessageUnknown
    if attempt["status"] == "sending" and (status in LOST or delivery_id is None):
        raise MessageUnknown
    if not climbs(attempt["status"], status):
        telemetry.STALE_EVENTS.labels("delivery_status").inc()
        return False
    await store.save_attempt_status(uow, attempt["id"], status, at, provider_message_id)
    is_overtaken = status in LOST and (not attempt["is_newest"] or row["status"] == "queued")
    if is_overtaken or not climbs(row["status"], status):
        return True
    await store.save_delivery_status(uow, row["id"], status, provider_message_id)
    if status in LOST:
        await publish_delivery_lost(uow, row, "the provider said that it did not arrive", status)
        return True
    if row["user_id"] is not None:
        uow.publish(
            DeliverySettled(
                notification_id=row["notification_id"], user_id=row["user_id"], channel=row["channel"], status=status
            ),
            wake_relay=False,
        )
    return True
