"""Resume payouts when the gateway accepts our key again."""

from common.database.unit_of_work import UnitOfWork
from payouts.domain.gateway_faults import key_alert
from payouts.store import open_alerts
from payouts.use_cases.alerts import clear_rejected_key


async def resume_payouts(uow: UnitOfWork, gateway: str) -> None:
    """Resume after a response of the gateway. Waiting transfers are claimed again in the next round of the worker."""
    if await open_alerts.remove_alert(uow, key_alert(gateway)):
        clear_rejected_key(uow, gateway)
