"""What happens as time passes: sessions of issuers that are trusted no more end, and the signing key grows old."""

from datetime import datetime
from typing import Final

from common.caller import ServiceItself
from common.database import Database
from identity.measures import SIGNING_KEY_TIME
from identity.store import keys
from identity.use_cases.end_distrusted_sessions import end_distrusted_sessions

DISTRUSTING: Final = ServiceItself("sessions of issuers that are no longer trusted")
MEASURING: Final = ServiceItself("the age of the signing key")
LOOK_EVERY_SECONDS: Final = 600.0


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
