"""The timers of orders: rows with `due_at`, fired on the injected clock. Several workers may run them side by side."""

from typing import Final

from common.auth.caller import THE_SERVICE
from common.database.errors import is_unavailable
from common.observability import telemetry
from common.observability.logging import get_logger
from common.primitives.lifecycles import Rejection
from orders.dependencies import Dependencies
from orders.domain.saved_items import BATCHES_MAX
from orders.store import timers
from orders.use_cases.orders.fire_timer import fire_timer
from orders.use_cases.saved_items.publish_saved_product_change import publish_saved_product_change

log = get_logger(__name__)

# The shortest window is minutes long, so a few seconds of delay do not matter.
TIMERS_EVERY_SECONDS: Final = 1.0
TIMERS_IDLE_SECONDS: Final = 4.0
# Enough to catch up after an outage, and few enough for a prompt shutdown between two rounds.
BATCH: Final = 100


# A buyer may read of a lower price seconds later.
SAVED_CHANGES_EVERY_SECONDS: Final = 2.0
SAVED_CHANGES_IDLE_SECONDS: Final = 5.0


async def publish_saved_product_changes_once(dependencies: Dependencies) -> int:
    """Publish waiting changes of saved products in batches, a transaction each, and return the number of batches."""
    for published in range(BATCHES_MAX):
        async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            if not await publish_saved_product_change(uow):
                return published
    return BATCHES_MAX


async def fire_timers_once(dependencies: Dependencies) -> int:
    """Fire due timers and return the number of orders whose state changed.

    Each timer has its own transaction: releasing the stock of several orders in one would deadlock with checkouts. A
    failed timer is logged and does not block the others; an outage of the database ends the round.
    """
    now = dependencies.clock.now()
    changed = 0
    due = await timers.list_due_timers(dependencies.database.reads_for(THE_SERVICE), now, BATCH)
    for order_id, kind in due:
        try:
            async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
                outcome = await fire_timer(uow, order_id, kind, now=now, windows=dependencies.windows)
        except Exception as error:
            if is_unavailable(error):
                raise
            log.error("timer failed, retrying in the next round", order_id=str(order_id), timer=kind, exc_info=error)
            continue
        changed += outcome is None
        if outcome is Rejection.STALE:
            telemetry.STALE_EVENTS.labels(kind).inc()
    return changed
