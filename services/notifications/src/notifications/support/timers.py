"""Loops of this context."""

from contextlib import suppress

from common.auth.caller import THE_SERVICE
from common.messaging.dead_letters import RETENTION_ID, AlreadyReplayed, reason_of_expiry
from notifications.dependencies import Dependencies
from notifications.support.store import messaging
from notifications.support.use_cases.messaging.close_dead_webhook import close_dead_webhook


async def close_expired_webhooks_once(dependencies: Dependencies) -> int:
    """Close the dead webhooks that were not resolved in time, and remove their payloads; return how many."""
    now, life = dependencies.clock.now(), dependencies.retention_periods.dead_letters
    expired = await messaging.list_expired_dead_webhooks(dependencies.database.reads_for(THE_SERVICE), life)
    for dead_letter_id in expired:
        # Staff may have resolved it meanwhile.
        with suppress(AlreadyReplayed):
            async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
                await close_dead_webhook(uow, str(dead_letter_id), RETENTION_ID, reason_of_expiry(life), now)
                await messaging.empty_dead_webhook(uow, dead_letter_id)
    return len(expired)
