"""Dead-letter a webhook after its last retry (specification: Ingestion rule 6)."""

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from payments.store import webhooks
from payments.use_cases.alerts import alert_dead_webhook


async def dead_letter_webhook(uow: UnitOfWork, webhook_id: str, error: str, attempts: int) -> None:
    """Record dead letter and outcome, and raise a SEV-2 alert, in the caller's transaction.

    The failure of a replay joins the alert of the first one.
    """
    event_type = await webhooks.record_dead_webhook(uow, new_id(), webhook_id, error, attempts)
    await webhooks.save_outcome(uow, webhook_id, "dead")
    first_id, *_ = await webhooks.list_dead_letter_ids(uow, webhook_id)
    alert_dead_webhook(
        uow, first_id, f"Webhook given up: {event_type}", f"{webhook_id} failed {attempts} times: {error}"
    )
