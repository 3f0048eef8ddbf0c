"""Background loops: sessions of distrusted issuers, expiring API keys, and the metrics of ages and guesses."""

from datetime import timedelta
from typing import Final

from common.auth.caller import ServiceItself
from identity.dependencies import Dependencies
from identity.metrics import ERASURE_OPEN_SECONDS, GUESSED_ACCOUNTS, SIGNING_KEY_TIME
from identity.store import erasure, guesses, keys
from identity.use_cases.api_keys.warn_of_expiring_keys import warn_of_expiring_keys
from identity.use_cases.sessions.revoke_distrusted_sessions import revoke_distrusted_sessions

WARNING_OF_KEYS: Final = ServiceItself("API keys that expire soon")
REVOKING_DISTRUSTED: Final = ServiceItself("sessions of issuers that are no longer trusted")
READING_KEY_AGE: Final = ServiceItself("age of the signing key")
READING_ERASURE_AGE: Final = ServiceItself("age of open erasure requests")
COUNTING_GUESSES: Final = ServiceItself("accounts at which credentials are guessed")
# Guesses spread over a day, one for each account, would look like mistakes.
GUESSES_WITHIN: Final = timedelta(hours=1)
GUESS_METRIC_EVERY_SECONDS: Final = 60.0
CHECK_EVERY_SECONDS: Final = 600.0
# The alert's threshold is an hour.
ERASURE_METRIC_EVERY_SECONDS: Final = 60.0


async def revoke_distrusted_sessions_once(dependencies: Dependencies) -> int:
    """Revoke the sessions of issuers that are no longer trusted as configured; return their number."""
    async with dependencies.database.unit_of_work(acting_as=REVOKING_DISTRUSTED) as uow:
        return await revoke_distrusted_sessions(
            uow, dependencies.further_issuers, dependencies.staff_issuers, now=dependencies.clock.now()
        )


async def warn_of_expiring_keys_once(dependencies: Dependencies) -> int:
    """Notify the creators of API keys that expire within 14 days; return the number of keys."""
    async with dependencies.database.unit_of_work(acting_as=WARNING_OF_KEYS) as uow:
        return await warn_of_expiring_keys(uow, now=dependencies.clock.now())


async def record_signing_key_age_once(dependencies: Dependencies) -> None:
    """Set the metric of the time since when the current key signs; a key is rotated once a year (specification:
    Secrets).
    """
    async with dependencies.database.unit_of_work(acting_as=READING_KEY_AGE) as uow:
        signs_from = await keys.find_signing_since(uow, dependencies.clock.now())
    if signs_from is not None:
        SIGNING_KEY_TIME.set(signs_from.timestamp())


async def record_erasure_age_once(dependencies: Dependencies) -> None:
    """Set the age of the oldest erasure request that each service has not evaluated yet (decision 25)."""
    now = dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=READING_ERASURE_AGE) as uow:
        pending_since = await erasure.list_oldest_pending(uow)
    for service, since in pending_since.items():
        ERASURE_OPEN_SECONDS.labels(service).set((now - since).total_seconds() if since else 0)


async def record_guessed_accounts_once(dependencies: Dependencies) -> None:
    """Set the number of accounts at which credentials were guessed within the last hour."""
    async with dependencies.database.unit_of_work(acting_as=COUNTING_GUESSES) as uow:
        counts = await guesses.count_guessed_accounts(uow, dependencies.clock.now() - GUESSES_WITHIN)
    for by, count in counts.items():
        GUESSED_ACCOUNTS.labels(by).set(count)
