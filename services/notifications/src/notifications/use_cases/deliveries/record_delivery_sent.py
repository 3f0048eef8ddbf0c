"""Record that a provider took a message, and say so."""

from typing import Any
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.notifications import DeliverySettled
from notifications import store


async def record_delivery_sent(uow: UnitOfWork, row: Any, claim_id: UUID, provider_message_id: str) -> None:
    """Marks the attempt and the delivery as sent; the first time it is news for others."""
    news = await store.save_sent(uow, row["id"], claim_id, provider_message_id)
    if news and row["user_id"] is not None:
        uow.publish(
            DeliverySettled(
                notification_id=row["notification_id"], user_id=row["user_id"], channel=row["channel"], status="sent"
            ),
            wake_relay=False,
        )
