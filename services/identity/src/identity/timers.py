"""What happens as time passes: sessions of issuers that are trusted no more end, the signing key and requests to be erased grow old."""

from datetime import datetime
from typing import Final

from common.auth.caller import ServiceItself
from common.database.unit_of_work import Database
from identity.metrics import ERASURE_OPEN_SECONDS, SIGNING_KEY_TIME
from identity.store import erasure, keys
from identity.use_cases.sessions.revoke_distrusted_sessions import revoke_distrusted_sessions

REVOKING_DISTRUSTED: Final = ServiceItself("sessions of issuers that are no longer trusted")
READING_KEY_AGE: Final = ServiceItself("the age of the signing key")
READING_ERASURE_AGE: Final = ServiceItself("how long people wait to be erased")
CHECK_EVERY_SECONDS: Final = 600.0
# The alert speaks of an hour.
ERASURE_METRIC_EVERY_SECONDS: Final = 60.0


async def revoke_distrusted_sessions_once(
    database: Database, issuers: frozenset[str], staff_issuers: frozenset[str], *, now: datetime
) -> int:
    """Ends the sessions that today's further issuers would not give; tells how many."""
    async with database.unit_of_work(acting_as=REVOKING_DISTRUSTED) as uow:
        return await revoke_distrusted_sessions(uow, issuers, staff_issuers, now=now)


async def record_signing_key_age_once(database: Database, *, now: datetime) -> None:
    """Publishes since when the present key has signed: it is to be replaced once a year (specification: Secrets)."""
    async with database.unit_of_work(acting_as=READING_KEY_AGE) as uow:
        signs_from = await keys.find_signing_since(uow, now)
    if signs_from is not None:
        SIGNING_KEY_TIME.set(signs_from.timestamp())


async def record_erasure_age_once(database: Database, *, now: datetime) -> None:
    """Publishes for how long each service has owed its word on a request to be erased (decision 25)."""
    async with database.unit_of_work(acting_as=READING_ERASURE_AGE) as uow:
        pending_since = await erasure.list_oldest_pending(uow)
    for service, since in pending_since.items():
        ERASURE_OPEN_SECONDS.labels(service).set((now - since).total_seconds() if since else 0)
