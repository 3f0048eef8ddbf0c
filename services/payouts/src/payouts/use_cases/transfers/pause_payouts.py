"""Pause payouts while the gateway does not accept our key."""

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from payouts.domain.gateway_faults import key_alert
from payouts.store import open_alerts
from payouts.use_cases.alerts import alert_rejected_key


async def pause_payouts(database: Database, clock: Clock, gateway: str) -> None:
    """Raise one SEV-1 alert, whatever the number of rejected calls. Nothing is sent or queried while it is open."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        if await open_alerts.save_alert_if_new(uow, key_alert(gateway), clock.now()):
            alert_rejected_key(uow, gateway)
