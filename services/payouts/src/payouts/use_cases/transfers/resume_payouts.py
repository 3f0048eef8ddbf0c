"""Resume payouts when the gateway accepts our key again."""

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.operations import AlertCleared
from payouts.domain.gateway_faults import key_alert
from payouts.store import open_alerts


async def resume_payouts(uow: UnitOfWork, gateway: str) -> None:
    """Resume after a response of the gateway. Waiting transfers are claimed again in the next round of the worker."""
    if await open_alerts.remove_alert(uow, key_alert(gateway)):
        reason = f"{gateway} accepts our key."
        uow.publish(AlertCleared(alert_id=new_id(), dedup_key=key_alert(gateway), reason=reason), source="payouts")
