"""Record that a gateway does not accept our key."""

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from payments.domain.gateway_faults import key_alert
from payments.store import open_alerts
from payments.use_cases.alerts import alert_rejected_key


async def record_rejected_key(database: Database, clock: Clock, gateway: str) -> None:
    """Raise one SEV-1 alert, whatever the number of rejected calls and of processes."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        if await open_alerts.save_alert_if_new(uow, key_alert(gateway), clock.now()):
            alert_rejected_key(uow, gateway)
