"""What happens as time passes: sessions of issuers that are trusted no more end, the signing key and requests to be erased grow old."""

from datetime import datetime
from typing import Final

from common.auth.caller import ServiceItself
from common.database.unit_of_work import Database
from identity.metrics import ERASURE_OPEN_SECONDS, SIGNING_KEY_TIME
from identity.store import erasure, keys
from identity.use_cases.sessions.end_distrusted_sessions import end_distrusted_sessions

DISTRUSTING: Final = ServiceItself("sessions of issuers that are no longer trusted")
MEASURING: Final = ServiceItself("the age of the signing key")
COUNTING_REQUESTS: Final = ServiceItself("how long people wait to be erased")
CHECK_EVERY_SECONDS: Final = 600.0
# The alert speaks of an hour.
MEASURE_ERASURES_EVERY_SECONDS: Final = 60.0


async def end_distrusted_sessions_once(
    database: Database, issuers: frozenset[str], staff_issuers: frozenset[str], *, now: datetime
) -> int:
    """Ends the sessions that today's further issuers would not give; tells how many."""
    async with database.unit_of_work(acting_as=DISTRUSTING) as uow:
        return await end_distrusted_sessions(uow, issuers, staff_issuers, now=now)


async def measure_signing_key_once(database: Database, *, now: datetime) -> None:
    """Publishes since when the present key has signed: it is to be replaced once a year (specification: Secrets)."""
    async with database.unit_of_work(acting_as=MEASURING) as uow:
        signs_from = await keys.find_signing_since(uow, now)
    if signs_from is not None:
        SIGNING_KEY_TIME.set(signs_from.timestamp())


async def measure_erasures_once(database: Database, *, now: datetime) -> None:
    """Publishes for how long each service has owed its word on a request to be erased (decision 25)."""
    async with database.unit_of_work(acting_as=COUNTING_REQUESTS) as uow:
        awaited = await erasure.list_awaited(uow)
    for service, since in awaited.items():
        ERASURE_OPEN_SECONDS.labels(service).set((now - since).total_seconds() if since else 0)
