"""Alert staff of new unexplained differences, and set the gauges."""

from dataclasses import dataclass

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from payments.domain.reconciliation import SELF_RESOLUTION_PERIOD
from payments.metrics import UNEXPLAINED_CASES, UNEXPLAINED_MINOR
from payments.store import reconciliation
from payments.use_cases.alerts import alert_unexplained


@dataclass(frozen=True, slots=True)
class Unexplained:
    """The number of open cases, and the sum of their differences in minor units."""

    cases: int
    minor: int


async def check_unexplained(database: Database, clock: Clock) -> Unexplained:
    """Raise one SEV-2 alert for all new cases. A case that may resolve itself is included after an hour."""
    now = clock.now()
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        cases = await reconciliation.claim_unalerted_cases(uow, now, now - SELF_RESOLUTION_PERIOD)
        if cases:
            alert_unexplained(uow, cases)
        unexplained = Unexplained(*await reconciliation.sum_unexplained(uow))
    UNEXPLAINED_CASES.set(unexplained.cases)
    UNEXPLAINED_MINOR.set(unexplained.minor)
    return unexplained
