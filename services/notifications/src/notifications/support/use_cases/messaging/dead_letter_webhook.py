"""Dead-letter a webhook of the messaging app, or one item of it, after its last retry."""

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.operations import AlertRaised
from notifications.support.domain.messaging_webhook import dead_letter_alert_key
from notifications.support.store import messaging


async def dead_letter_webhook(uow: UnitOfWork, event_id: str, error: str, attempts: int) -> None:
    """Record the dead letter and raise a SEV-2 alert, in the caller's transaction (specification: Ingestion rule 6)."""
    dead_letter_id = new_id()
    event_type = await messaging.record_dead_webhook(uow, dead_letter_id, event_id, error, attempts)
    uow.publish(
        AlertRaised(
            alert_id=new_id(),
            severity="SEV-2",
            title=f"Webhook of the messaging app failed: {event_type}",
            detail=f"{event_id} failed {attempts} times: {error}",
            runbook="dead-letter-webhooks",
            dedup_key=dead_letter_alert_key(dead_letter_id),
            about=str(dead_letter_id),
        ),
        source="notifications",
    )
