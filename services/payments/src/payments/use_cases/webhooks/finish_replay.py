"""Finish the replay of a dead webhook that was processed."""

from common.database.unit_of_work import UnitOfWork
from payments.use_cases.webhooks.steps import clear_dead_webhook


async def finish_replay(uow: UnitOfWork, webhook_id: str) -> None:
    """Clear the webhook's alert. A repetition is harmless."""
    await clear_dead_webhook(uow, webhook_id, "the replayed webhook was processed")
