"""Tell people of the kobo that nobody can explain."""

from dataclasses import dataclass
from typing import Final

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from common.primitives.ids import new_id
from contracts.operations import AlertRaised
from payments.domain.reconciliation import SELF_HEALING_PERIOD
from payments.metrics import UNEXPLAINED_CASES, UNEXPLAINED_MINOR
from payments.store import reconciliation as store

RUNBOOK: Final = "unexplained-kobo"
# Enough to see the pattern; the list has the rest.
_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class Unexplained:
    """The cases that are open, and their kobo."""

    cases: int
    minor: int


async def alert_unexplained(database: Database, clock: Clock) -> Unexplained:
    """One SEV-2 alert for all new cases; what heals itself is told of only when it has not after an hour. Sets the metrics."""
    now = clock.now()
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        untold = await store.claim_untold_cases(uow, now, now - SELF_HEALING_PERIOD)
        if untold:
            named = ", ".join(f"{row['kind']} {row['subject']}" for row in untold[:_NAMED])
            total = sum(row["unexplained_minor"] for row in untold)
            uow.publish(
                AlertRaised(
                    alert_id=new_id(),
                    severity="SEV-2",
                    title=f"{len(untold)} differences between the gateway, the book and the orders",
                    detail=f"{total} kobo nobody can explain: {named}",
                    runbook=RUNBOOK,
                    dedup_key=f"unexplained-kobo:{untold[0]['id']}",
                    about=str(untold[0]["id"]),
                ),
                source="payments",
            )
        unexplained = Unexplained(*await store.sum_unexplained(uow))
    UNEXPLAINED_CASES.set(unexplained.cases)
    UNEXPLAINED_MINOR.set(unexplained.minor)
    return unexplained
