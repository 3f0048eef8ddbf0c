"""The timers of orders: rows with `due_at`, fired on the injected clock. Several workers may run this side by side."""

from typing import Final

from common.auth.caller import THE_SERVICE
from common.observability import telemetry
from common.observability.logging import get_logger
from orders import store
from orders.dependencies import Dependencies
from orders.domain.transitions import Rejection
from orders.use_cases.orders.fire_timer import fire_timer

log = get_logger(__name__)

# The window is minutes long: a second late is on time.
TIMERS_EVERY_SECONDS: Final = 1.0
# Enough to catch up after an outage at hundreds a second, and few enough that the process ends between two rounds.
BATCH: Final = 100


async def fire_timers_once(dependencies: Dependencies) -> int:
    """Fires what is due, each timer in a transaction of its own; tells how many orders it moved.

    One transaction for each, because freeing the stock of several orders in one would lock products out of their order and
    deadlock with checkouts. One that fails is logged and does not stand in the way of the others.
    """
    now = dependencies.clock.now()
    moved = 0
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        due = await store.list_due_timers(uow, now, BATCH)
    for order_id, kind in due:
        try:
            async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
                outcome = await fire_timer(uow, order_id, kind, now=now, windows=dependencies.windows)
        except Exception as error:
            log.error("timer failed", order_id=str(order_id), timer=kind, exc_info=error)
            continue
        moved += outcome is None
        if outcome is Rejection.STALE:
            telemetry.STALE_EVENTS.labels(kind).inc()
    return moved
