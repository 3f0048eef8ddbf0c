"""What this service does by the clock."""

from typing import Final

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.observability.logging import get_logger
from common.primitives.clock import Clock
from notifications import store
from notifications.clients.on_call import OnCall
from notifications.dependencies import Dependencies
from notifications.domain.alerts import REPEAT_AFTER
from notifications.domain.channels import redelivery_policy
from notifications.domain.deliveries import CLAIM_LIFE, Doubtful, UnderWay, evaluate_claim
from notifications.use_cases.deliveries.fail_delivery import fail_delivery
from notifications.use_cases.deliveries.send_delivery import IN_DOUBT
from notifications.use_cases.pins.advance_pin import advance_pin

log: Final = get_logger(__name__)

# A dead worker's messages come back in portions, so that the provider and the queue are not flooded at once.
ABANDONED_ROWS_MAX: Final = 200
SWEEP_EVERY_SECONDS: Final = 5.0
# What waited for the end of quiet hours comes in portions too; a second late is on time.
DUE_ROWS_MAX: Final = 500
DUE_EVERY_SECONDS: Final = 1.0
OPEN_ALERTS_MAX: Final = 200
OPEN_ALERTS_EVERY_SECONDS: Final = 15.0


async def resolve_abandoned(database: Database, clock: Clock, *, reports_statuses: bool) -> int:
    """Gives what dead workers left back to the queue, or up where it must not go out twice (`doubt_about`); tells how many."""
    now, again, given_up = clock.now(), 0, 0
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        for row in await store.lock_old_claims(uow, now - CLAIM_LIFE, ABANDONED_ROWS_MAX):
            redelivery = redelivery_policy(row["template"], row["channel"], reports_statuses=reports_statuses)
            verdict = evaluate_claim(row["status"], row["claimed_at"], row["attempts"], now, redelivery)
            if isinstance(verdict, UnderWay):
                continue
            if isinstance(verdict, Doubtful):
                await fail_delivery(uow, row["id"], IN_DOUBT)
                given_up += 1
            else:
                await store.release_claim(uow, row["id"], row["claim_id"])
                store.leave_delivery(uow, row["id"], row["channel"])
                again += 1
    if again or given_up:
        log.warning("deliveries were abandoned by their workers", sent_again=again, given_up=given_up)
    return again + given_up


async def release_due(database: Database, clock: Clock) -> int:
    """Gives what waited for its time (quiet hours, a provider that rested) to the queue; tells how many."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        due = await store.claim_due_deliveries(uow, clock.now(), DUE_ROWS_MAX)
        for row in due:
            store.leave_delivery(uow, row["id"], row["channel"])
    return len(due)


async def repeat_open_alerts(database: Database, clock: Clock, on_call: OnCall) -> int:
    """Says the alerts that stand once more to whoever would forget them; tells how many."""
    if not on_call.is_reachable or not on_call.forgets:
        return 0
    now = clock.now()
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        standing = await store.claim_open_alerts(uow, now, now - REPEAT_AFTER, OPEN_ALERTS_MAX)
        for alert_id in standing:
            store.leave_page(uow, alert_id)
    return len(standing)


async def advance_pins(dependencies: Dependencies) -> int:
    """Sends the PINs that nobody says have arrived by their next channel, each in a transaction of its own; tells how many."""
    delivery_context, moved = dependencies.delivery_context(), 0
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        due = await store.list_due_watches(uow, delivery_context.now, DUE_ROWS_MAX)
    for notification_id in due:
        try:
            async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
                moved += await advance_pin(uow, delivery_context, notification_id) is not None
        except Exception as error:
            # One that cannot go on must not hold back the others; it is tried again at the next round.
            log.error("a PIN could not go on by its next channel", notification_id=str(notification_id), exc_info=error)
    return moved
