"""Pause payouts while the gateway does not accept our key."""

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from common.primitives.ids import new_id
from contracts.operations import AlertRaised
from payouts.domain.gateway_faults import RUNBOOK, key_alert
from payouts.store import open_alerts


async def pause_payouts(database: Database, clock: Clock, gateway: str) -> None:
    """Raise one SEV-1 alert, whatever the number of rejected calls. Nothing is sent or queried while it is open."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        if await open_alerts.save_alert_if_new(uow, key_alert(gateway), clock.now()):
            uow.publish(_alert(gateway), source="payouts")


def _alert(gateway: str) -> AlertRaised:
    return AlertRaised(
        alert_id=new_id(),
        severity="SEV-1",
        title="Payment gateway rejects our key",
        detail=f"{gateway} answered 401 or 403. Payouts wait, and bank details cannot be changed, until it accepts the key.",
        runbook=RUNBOOK,
        dedup_key=key_alert(gateway),
        about="payouts",
    )
