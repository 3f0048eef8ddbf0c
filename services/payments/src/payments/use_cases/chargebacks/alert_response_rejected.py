"""Alert finance that the gateway rejected a response to a dispute."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.operations import AlertRaised


def alert_response_rejected(uow: UnitOfWork, chargeback_id: UUID, response_id: UUID, failure: str) -> None:
    """SEV-1, because the date of the dispute does not move. One alert for each response."""
    uow.publish(
        AlertRaised(
            alert_id=new_id(),
            severity="SEV-1",
            title="Response to a chargeback rejected",
            detail=f"Chargeback {chargeback_id}: the gateway rejected our response ({failure}). Correct it and send it again.",
            runbook="chargeback",
            dedup_key=f"chargeback:{chargeback_id}:response:{response_id}",
            about=str(chargeback_id),
        ),
        source="payments",
    )
