"""Alert staff of new unexplained differences, and set the gauges."""

from dataclasses import dataclass
from typing import Final

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from payments.domain.reconciliation import SELF_RESOLUTION_PERIOD
from payments.metrics import UNEXPLAINED_CASES, UNEXPLAINED_MINOR
from payments.store import reconciliation
from payments.use_cases.alerts import raise_alert

RUNBOOK: Final = "unexplained-kobo"
# Enough to see a pattern; the list has the rest.
_NAMED_MAX: Final = 5


@dataclass(frozen=True, slots=True)
class Unexplained:
    """The number of open cases, and the sum of their differences in minor units."""

    cases: int
    minor: int


async def alert_unexplained(database: Database, clock: Clock) -> Unexplained:
    """Raise one SEV-2 alert for all new cases. A case that may resolve itself is included after an hour."""
    now = clock.now()
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        cases = await reconciliation.claim_unalerted_cases(uow, now, now - SELF_RESOLUTION_PERIOD)
        if cases:
            named = ", ".join(f"{case.kind} {case.subject}" for case in cases[:_NAMED_MAX])
            total = sum(case.unexplained_minor for case in cases)
            raise_alert(
                uow,
                "SEV-2",
                f"{len(cases)} differences between the gateway, the ledger and the orders",
                f"{total} kobo are unexplained: {named}. Compare each case with the gateway, and close it with evidence.",
                runbook=RUNBOOK,
                key=f"unexplained-kobo:{cases[0].id}",
                about=str(cases[0].id),
            )
        unexplained = Unexplained(*await reconciliation.sum_unexplained(uow))
    UNEXPLAINED_CASES.set(unexplained.cases)
    UNEXPLAINED_MINOR.set(unexplained.minor)
    return unexplained
