"""Publish that a delivery failed for good."""

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.store.deliveries import LockedDelivery
from notifications.deliveries.use_cases.deliveries.alerts import alert_delivery_lost
from notifications.deliveries.use_cases.deliveries.publish_delivery_settled import publish_delivery_settled


def publish_delivery_lost(
    uow: UnitOfWork, delivery: LockedDelivery, reason: str, status: str = "failed", *, alert: bool = True
) -> None:
    """Publish a final failure and raise an alert. Pass `alert=False` for expected failures, such as an uninstalled
    app.
    """
    if alert:
        alert_delivery_lost(uow, delivery, reason)
    publish_delivery_settled(uow, delivery, status)
