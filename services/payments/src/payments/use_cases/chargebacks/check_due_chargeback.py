"""Check whether a dispute has a response before its date."""

from datetime import timedelta

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from payments.clients.gateway import GatewayRejected, Gateways, GatewayUnavailable
from payments.domain.errors import MalformedEvent
from payments.store import chargebacks
from payments.store.chargebacks import DueChargeback
from payments.use_cases.alerts import alert_due_chargeback
from payments.use_cases.chargebacks.steps import record_responded


async def check_due_chargeback(
    database: Database, gateways: Gateways, clock: Clock, due: DueChargeback, lead: timedelta
) -> bool:
    """Return whether an alert was raised. A response in the gateway's dashboard needs none; an unreachable gateway
    prevents no alert.
    """
    has_response = await _has_response(gateways, due)
    now = clock.now()
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        if has_response:
            await record_responded(uow, due.id, now)
            return False
        if not await chargebacks.claim_due_alert(uow, due.id, now, now + lead):
            return False
        alert_due_chargeback(uow, due)
    return True


async def _has_response(gateways: Gateways, due: DueChargeback) -> bool:
    try:
        dispute = await gateways.of(due.gateway).find_dispute(due.identity)
    except (GatewayUnavailable, GatewayRejected, MalformedEvent):
        return False
    return dispute is not None and not dispute.awaits_response
