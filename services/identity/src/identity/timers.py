"""What happens as time passes: old sessions, codes and failed logins are forgotten."""

from datetime import datetime
from typing import Final

from common.caller import ServiceItself
from common.database import Database
from identity.domain.issued_codes import DAY
from identity.domain.slow_down import FORGOTTEN_AFTER
from identity.measures import SIGNING_KEY_TIME
from identity.store import codes, keys, login_failures, passkeys, sessions
from identity.use_cases.end_distrusted_sessions import end_distrusted_sessions

FORGETTING: Final = ServiceItself("sessions that are over")
DISTRUSTING: Final = ServiceItself("sessions of issuers that are no longer trusted")
FORGETTING_CHALLENGES: Final = ServiceItself("challenges that nobody answered")
FORGETTING_CODES: Final = ServiceItself("codes and failures that are over")
MEASURING: Final = ServiceItself("the age of the signing key")
PRUNE_EVERY_SECONDS: Final = 600.0
# A step that holds no lock for long; at one step in ten minutes it keeps up with a hundred thousand refreshes a day.
PRUNE_ROWS: Final = 5_000


async def prune_sessions_once(database: Database, *, now: datetime) -> int:
    """Forgets refresh tokens past their time, and sessions of which none is left; tells how many rows went."""
    async with database.unit_of_work(acting_as=FORGETTING) as uow:
        tokens = await sessions.forget_expired_refresh_tokens(uow, now, PRUNE_ROWS)
        return tokens + await sessions.forget_empty_sessions(uow, now, PRUNE_ROWS)


async def prune_challenges_once(database: Database, *, now: datetime) -> int:
    """Forgets challenges that no authenticator answered in time; tells how many rows went."""
    async with database.unit_of_work(acting_as=FORGETTING_CHALLENGES) as uow:
        return await passkeys.forget_expired_challenges(uow, now, PRUNE_ROWS)


async def prune_codes_once(database: Database, *, now: datetime) -> int:
    """Forgets addresses that nobody asked a code for in a day, and failed logins that count no more; tells how many rows went."""
    async with database.unit_of_work(acting_as=FORGETTING_CODES) as uow:
        forgotten = await codes.forget_old_codes(uow, now - DAY, PRUNE_ROWS)
        return forgotten + await login_failures.forget_old_failures(uow, now - FORGOTTEN_AFTER, PRUNE_ROWS)


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
