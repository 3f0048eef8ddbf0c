"""Dead-letter a webhook of the messaging app, or one item of it, after its last retry."""

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from notifications.support.store import messaging
from notifications.support.use_cases.alerts import alert_dead_webhook


async def dead_letter_webhook(uow: UnitOfWork, event_id: str, error: str, attempts: int) -> None:
    """Record the dead letter and raise a SEV-2 alert, in the caller's transaction (specification: Ingestion rule 6).

    The failure of a replay joins the alert of the first one.
    """
    event_type = await messaging.record_dead_webhook(uow, new_id(), event_id, error, attempts)
    first_id, *_ = await messaging.list_dead_letter_ids(uow, event_id)
    alert_dead_webhook(uow, first_id, event_type, f"{event_id} failed {attempts} times: {error}")
