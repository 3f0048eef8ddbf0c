"""Loops of this service."""

from typing import Final

from common.auth.caller import THE_SERVICE
from common.database.errors import is_unavailable
from common.database.retention import start_of_month
from common.observability.logging import get_logger
from notifications.deliveries.clients.delivery_sender import OUTCOME_UNKNOWN
from notifications.deliveries.domain.alerts import DELIVERY_LOST, ESCALATE_AFTER, MESSAGES_REMOVED, REPEAT_AFTER
from notifications.deliveries.domain.channels import redelivery_policy
from notifications.deliveries.domain.deliveries import CLAIM_LIFETIME, InProgress, OutcomeUnknown, evaluate_claim
from notifications.deliveries.store.alerts import (
    claim_open_alerts,
    claim_unacknowledged_alerts,
    close_alerts_raised_before,
    enqueue_page,
)
from notifications.deliveries.store.deliveries import lock_old_claims, release_claim
from notifications.deliveries.store.pins import list_due_watches
from notifications.deliveries.use_cases.deliveries.fail_delivery import fail_delivery
from notifications.deliveries.use_cases.pins.advance_pin import advance_pin
from notifications.dependencies import Dependencies

log: Final = get_logger(__name__)

# Batches keep a recovery short.
ABANDONED_ROWS_MAX: Final = 200
SWEEP_EVERY_SECONDS: Final = 5.0
PINS_MAX: Final = 500
PINS_EVERY_SECONDS: Final = 1.0
PINS_IDLE_SECONDS: Final = 4.0
OPEN_ALERTS_MAX: Final = 200
OPEN_ALERTS_EVERY_SECONDS: Final = 15.0


async def resolve_abandoned_once(dependencies: Dependencies) -> int:
    """Queue again or fail the deliveries of dead workers by `redelivery_policy`; return their number."""
    now, requeued, failed = dependencies.clock.now(), 0, 0
    reports_statuses = dependencies.delivery_sender.reports_statuses
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        for claim in await lock_old_claims(uow, now - CLAIM_LIFETIME, ABANDONED_ROWS_MAX):
            redelivery = redelivery_policy(claim.template, claim.channel, reports_statuses=reports_statuses)
            verdict = evaluate_claim(claim.claimed_at, claim.attempts, now, redelivery)
            if isinstance(verdict, InProgress):
                continue
            if isinstance(verdict, OutcomeUnknown):
                await fail_delivery(uow, claim.id, OUTCOME_UNKNOWN)
                failed += 1
            else:
                await release_claim(uow, claim, now)
                requeued += 1
    if requeued or failed:
        dependencies.dispatcher.wake()
        log.warning("abandoned deliveries resolved", requeued=requeued, failed=failed)
    return requeued + failed


async def repeat_open_alerts_once(dependencies: Dependencies) -> int:
    """Page open alerts again where the receiver loses its state at a restart; return their number."""
    if not dependencies.on_call.is_configured or not dependencies.on_call.needs_repeats:
        return 0
    now = dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        alert_ids = await claim_open_alerts(uow, now, now - REPEAT_AFTER, OPEN_ALERTS_MAX)
        for alert_id in alert_ids:
            enqueue_page(uow, alert_id)
    return len(alert_ids)


async def escalate_alerts_once(dependencies: Dependencies) -> int:
    """Page the second user on call about alerts that were not acknowledged in time; return their number."""
    now = dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        alert_ids = await claim_unacknowledged_alerts(uow, now, ESCALATE_AFTER, OPEN_ALERTS_MAX)
        for alert_id in alert_ids:
            enqueue_page(uow, alert_id)
    if alert_ids:
        log.warning("alerts escalated", alerts=len(alert_ids))
    return len(alert_ids)


async def close_removed_once(dependencies: Dependencies) -> int:
    """Close the alerts about lost messages that retention removed since, and page that; return their number."""
    now = dependencies.clock.now()
    removed_before = start_of_month(now - dependencies.retention_periods.deliveries)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        alert_ids = await close_alerts_raised_before(uow, now, MESSAGES_REMOVED, DELIVERY_LOST, removed_before)
        for alert_id in alert_ids:
            enqueue_page(uow, alert_id)
    return len(alert_ids)


async def advance_pins_once(dependencies: Dependencies) -> int:
    """Forward overdue PINs to their next channel, each in a transaction of its own; return their number."""
    delivery_context, advanced = dependencies.delivery_context(), 0
    due = await list_due_watches(dependencies.database.reads_for(THE_SERVICE), delivery_context.now, PINS_MAX)
    for notification_id in due:
        try:
            async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
                advanced += await advance_pin(uow, delivery_context, notification_id) is not None
        except Exception as error:
            if is_unavailable(error):
                raise
            # One failure must not block the other PINs; the next round retries it.
            log.error("PIN not forwarded to its next channel", notification_id=str(notification_id), exc_info=error)
    return advanced
