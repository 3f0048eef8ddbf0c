"""Clear the alert of a quarantined charge after its approved decision."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.operations import AlertCleared
from payments.domain.quarantine import alert_key


def clear_quarantine_alert(uow: UnitOfWork, quarantined_id: UUID, outcome: str) -> None:
    """`outcome` is `accepted` or `returned`."""
    uow.publish(
        AlertCleared(
            alert_id=new_id(), dedup_key=alert_key(quarantined_id), reason=f"the charge was {outcome} by two people"
        ),
        source="payments",
    )
