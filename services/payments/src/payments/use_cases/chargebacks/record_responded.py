"""Record that the gateway has our response to a dispute. The alert of its date closes."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payments.domain.chargebacks import due_alert_key
from payments.store import chargebacks
from payments.use_cases.alerts import clear_alert


async def record_responded(uow: UnitOfWork, chargeback_id: UUID, now: datetime) -> None:
    """Repeatable: the first response counts."""
    if await chargebacks.save_responded(uow, chargeback_id, now):
        clear_alert(uow, due_alert_key(chargeback_id), "the dispute has its response")
