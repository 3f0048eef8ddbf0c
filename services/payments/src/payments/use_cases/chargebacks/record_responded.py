"""Record that the gateway has our response to a dispute. The alert of its date closes."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.operations import AlertCleared
from payments.domain.chargebacks import due_alert_key
from payments.store import chargebacks


async def record_responded(uow: UnitOfWork, chargeback_id: UUID, now: datetime) -> None:
    """Repeatable: the first response counts."""
    if await chargebacks.save_responded(uow, chargeback_id, now):
        uow.publish(
            AlertCleared(
                alert_id=new_id(), dedup_key=due_alert_key(chargeback_id), reason="the dispute has its response"
            ),
            source="payments",
        )
