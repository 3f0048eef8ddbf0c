"""Say that a message did not arrive: somebody must look."""

from typing import Any, Final, Literal

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.notifications import DeliverySettled
from contracts.operations import AlertRaised
from notifications.domain.templates import CATALOG

RUNBOOK: Final = "notification-not-delivered"


async def publish_delivery_lost(
    uow: UnitOfWork, row: Any, reason: str, status: str = "failed", *, alert: bool = True
) -> None:
    """Publishes that a delivery has ended without arriving. Failures of one message by one channel are one alert.

    A PIN or code that does not arrive stops a person at the counter: SEV-2; any other message: SEV-3. `alert` is left out
    where nothing is wrong with anybody: an app that was removed.
    """
    severity: Literal["SEV-2", "SEV-3"] = "SEV-2" if CATALOG[row["template"]].sensitive else "SEV-3"
    if alert:
        uow.publish(
            AlertRaised(
                alert_id=new_id(),
                severity=severity,
                title=f"Message not delivered: {row['template']} by {row['channel']}",
                detail=f"Notification {row['notification_id']} was given up: {reason}",
                runbook=RUNBOOK,
                dedup_key=f"delivery-failed:{row['channel']}:{row['template']}",
                about=str(row["notification_id"]),
            ),
            source="notifications",
        )
    if row["user_id"] is not None:
        uow.publish(
            DeliverySettled(
                notification_id=row["notification_id"], user_id=row["user_id"], channel=row["channel"], status=status
            ),
            wake_relay=False,
        )
