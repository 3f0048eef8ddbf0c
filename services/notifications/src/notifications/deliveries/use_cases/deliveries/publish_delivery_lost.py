"""Publish that a delivery failed for good."""

from typing import Final, Literal

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.operations import AlertRaised
from notifications.deliveries.domain.templates import CATALOG
from notifications.deliveries.store import LockedDelivery
from notifications.deliveries.use_cases.deliveries.publish_delivery_settled import publish_delivery_settled

RUNBOOK: Final = "notification-not-delivered"


def publish_delivery_lost(
    uow: UnitOfWork, delivery: LockedDelivery, reason: str, status: str = "failed", *, alert: bool = True
) -> None:
    """Publish a final failure and raise one alert for each template and channel.

    A lost PIN or code blocks a handover or sign-in: SEV-2; other messages: SEV-3. Pass `alert=False` for expected failures,
    such as an uninstalled app.
    """
    severity: Literal["SEV-2", "SEV-3"] = "SEV-2" if CATALOG[delivery.template].sensitive else "SEV-3"
    if alert:
        uow.publish(
            AlertRaised(
                alert_id=new_id(),
                severity=severity,
                title=f"Message not delivered: {delivery.template} by {delivery.channel}",
                detail=f"Notification {delivery.notification_id} failed: {reason}",
                runbook=RUNBOOK,
                dedup_key=f"delivery-failed:{delivery.channel}:{delivery.template}",
                about=str(delivery.notification_id),
            ),
            source="notifications",
        )
    publish_delivery_settled(uow, delivery, status)
