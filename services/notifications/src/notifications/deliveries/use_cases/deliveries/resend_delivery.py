"""Send a message again on request."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.observability.logging import get_logger
from common.primitives.problems import NotFound
from notifications.deliveries.domain.channels import is_expired
from notifications.deliveries.domain.errors import DeliveryInProgress, RecipientDeleted, SecretExpired
from notifications.deliveries.domain.templates import CATALOG
from notifications.deliveries.queries.deliveries import find_delivery, find_delivery_of_attempt
from notifications.deliveries.queries.devices import find_device
from notifications.deliveries.responses.deliveries import NotificationDelivery
from notifications.deliveries.store.deliveries import LockedDelivery, enqueue_wakeup, lock_delivery
from notifications.deliveries.store.statuses import record_resend_if_new, requeue_delivery

log = get_logger(__name__)


async def resend_delivery(
    uow: UnitOfWork, log_id: UUID, requested_by: UUID, key: str | None, now: datetime
) -> NotificationDelivery:
    """Queue a new attempt of the delivery of a log row; a repeated idempotency key changes nothing.

    Raises NotFound, DeliveryInProgress, RecipientDeleted for an erased user or a removed device, and SecretExpired for
    a PIN or code that is no longer valid.
    """
    delivery_id = await find_delivery_of_attempt(uow, log_id)
    delivery = None if delivery_id is None else await lock_delivery(uow, delivery_id)
    if delivery is None:
        raise NotFound
    if await record_resend_if_new(uow, delivery.id, log_id, requested_by, key, now):
        await _check_resendable(uow, delivery, now)
        await requeue_delivery(uow, delivery.id, now)
        enqueue_wakeup(uow, delivery.id)
        log.info("message resend requested", delivery_id=str(delivery.id), requested_by=str(requested_by))
    return await find_delivery(uow, delivery.notification_id, delivery.channel, [delivery.recipient])


async def _check_resendable(uow: UnitOfWork, delivery: LockedDelivery, now: datetime) -> None:
    if delivery.status == "queued":
        raise DeliveryInProgress
    if delivery.recipient.startswith("erased:"):
        raise RecipientDeleted
    if delivery.channel == "push":
        user_id = delivery.user_id
        if user_id is None or await find_device(uow, UUID(delivery.recipient), user_id) is None:
            raise RecipientDeleted
    if not CATALOG[delivery.template].sensitive:
        return
    age = now - delivery.created_at
    if not delivery.sealed or is_expired(delivery.template, delivery.payload.get("purpose"), age):
        raise SecretExpired
