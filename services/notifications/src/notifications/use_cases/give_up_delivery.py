"""Give a message up: nobody will try again, and somebody must look."""

from typing import Final, Literal
from uuid import UUID

from common.database import UnitOfWork
from common.ids import new_id
from contracts.notifications import DeliverySettled
from contracts.operations import AlertRaised
from notifications import store
from notifications.domain.templates import CATALOG

RUNBOOK: Final = "notification-not-delivered"


async def give_up_delivery(uow: UnitOfWork, delivery_id: UUID, reason: str) -> None:
    """Marks a delivery as failed and alerts, once. Failures of one message by one channel are one alert.

    A PIN or code that does not arrive stops a person at the counter: SEV-2; any other message: SEV-3.
    """
    row = await store.lock_delivery(uow, delivery_id)
    if row is None or not await store.save_given_up(uow, row):
        return
    severity: Literal["SEV-2", "SEV-3"] = "SEV-2" if CATALOG[row["template"]].sensitive else "SEV-3"
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
                notification_id=row["notification_id"], user_id=row["user_id"], channel=row["channel"], status="failed"
            )
        )
