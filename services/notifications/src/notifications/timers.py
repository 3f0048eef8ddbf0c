"""What this service does by the clock."""

from typing import Final

from common.caller import THE_SERVICE
from common.clock import Clock
from common.database import Database
from common.logging import get_logger
from notifications import store
from notifications.domain.deliveries import CLAIM_LIFE

log: Final = get_logger(__name__)

# A dead worker's messages come back in portions, so that the provider and the queue are not flooded at once.
ABANDONED_ROWS_MAX: Final = 200
SWEEP_EVERY_SECONDS: Final = 5.0


async def resume_abandoned_once(database: Database, clock: Clock) -> int:
    """Gives the messages of dead workers back to the queue, once their claims are over; tells how many."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        abandoned = await store.release_abandoned_claims(uow, clock.now() - CLAIM_LIFE, ABANDONED_ROWS_MAX)
        for delivery_id in abandoned:
            store.leave_delivery(uow, delivery_id)
    if abandoned:
        log.warning("deliveries were abandoned by their workers and go out again", count=len(abandoned))
    return len(abandoned)
