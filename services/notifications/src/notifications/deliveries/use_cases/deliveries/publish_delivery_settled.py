"""Publish the status of a delivery."""

from common.database.unit_of_work import UnitOfWork
from contracts.notifications import DeliverySettled
from notifications.deliveries.store.deliveries import LockedDelivery


def publish_delivery_settled(uow: UnitOfWork, delivery: LockedDelivery, status: str) -> None:
    """Publish the status of a user's delivery. Messages to a bare address are not published."""
    if delivery.user_id is not None:
        event = DeliverySettled(
            notification_id=delivery.notification_id,
            user_id=delivery.user_id,
            channel=delivery.channel,
            status=status,
        )
        uow.publish(event, wake_relay=False)
