"""Alert finance that the gateway decided a dispute otherwise than before."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from common.primitives.ids import new_id
from contracts.operations import AlertRaised
from payments.domain.chargebacks import Outcome
from payments.store.chargebacks import Chargeback


def alert_reversed_decision(uow: UnitOfWork, chargeback: Chargeback, outcome: Outcome, now: datetime) -> None:
    """SEV-2, one alert for each reversal. `chargeback` has the earlier decision."""
    uow.publish(
        AlertRaised(
            alert_id=new_id(),
            severity="SEV-2",
            title=f"Dispute reported {chargeback.status}, and now {outcome}",
            detail=f"The gateway reported chargeback {chargeback.id} as {chargeback.status}, and its present answer is {outcome}. "
            f"The ledger has the new decision. Compare it with the gateway's dashboard, and the order with its money.",
            runbook="chargeback",
            dedup_key=f"chargeback:{chargeback.id}:reversed:{iso(now)}",
            about=str(chargeback.id),
        ),
        source="payments",
    )
