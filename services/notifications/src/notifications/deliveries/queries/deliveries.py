"""Reads of deliveries and their attempts."""

from collections.abc import Collection, Mapping
from typing import Final
from uuid import UUID

from common.database.parameters import Parameters, all_of
from common.database.unit_of_work import UnitOfWork
from common.web.pages import Found, OffsetPage
from notifications.deliveries.domain.statuses import furthest
from notifications.deliveries.responses.deliveries import DeliveryLog, NotificationDelivery

_DELIVERY: Final = """
SELECT notification_id, status, provider_message_id FROM notification_deliveries
WHERE notification_id = $1 AND channel = $2 AND recipient = ANY ($3) ORDER BY created_at, id
"""
_DELIVERY_OF_ATTEMPT: Final = "SELECT delivery_id FROM notification_delivery_logs WHERE id = $1"
# The filters by their public names; only those of the request are part of the statement, so that each uses its index.
LOG_FILTERS: Final[Mapping[str, str]] = {
    "notificationId": "notification_id = {}",
    "orderId": "notification_id IN (SELECT notifications_of_order({}))",
    "userId": "user_id = {}",
    "channel": "channel = {}",
    "status": "status = {}",
}
_LOG_COUNT: Final = "SELECT count(*) FROM notification_delivery_logs"
_LOG_PAGE: Final = """
SELECT id, notification_id, user_id, channel, template, recipient, status, provider, provider_message_id, error,
       attempted_at, told_at
FROM notification_delivery_logs
"""
LOG_SORTS: Final = {"created_at": "attempted_at"}


async def find_delivery(
    uow: UnitOfWork, notification_id: UUID, channel: str, recipients: Collection[str]
) -> NotificationDelivery:
    """Return the status of a recorded delivery (contract section 12).

    The status of a push to several devices is the furthest one.
    """
    rows = await uow.fetch(_DELIVERY, notification_id, channel, list(recipients))
    return NotificationDelivery.from_row(rows[furthest([row["status"] for row in rows])])


async def find_delivery_of_attempt(uow: UnitOfWork, log_id: UUID) -> UUID | None:
    """Return the delivery of a log row; None when there is none that the caller may see."""
    delivery_id: UUID | None = await uow.fetch_value(_DELIVERY_OF_ATTEMPT, log_id)
    return delivery_id


async def page_of_delivery_logs(
    uow: UnitOfWork, page: OffsetPage, filters: Mapping[str, UUID | str]
) -> Found[DeliveryLog]:
    """Return one page of the attempts and their total number. `filters` are values of LOG_FILTERS."""
    parameters = Parameters()
    where = all_of(parameters.conditions(LOG_FILTERS, filters))
    total: int = await uow.fetch_value(f"{_LOG_COUNT} WHERE {where}", *parameters.values)
    order = page.order_by(LOG_SORTS[page.sort], "id")
    bounds = parameters.condition("LIMIT {} OFFSET {}", page.limit, page.offset)
    rows = await uow.fetch(f"{_LOG_PAGE} WHERE {where} {order} {bounds}", *parameters.values)
    return [DeliveryLog.from_row(row) for row in rows], total
