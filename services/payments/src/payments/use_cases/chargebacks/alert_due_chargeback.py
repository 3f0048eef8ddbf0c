"""Alert finance once before the date of a dispute that has no response."""

from datetime import timedelta

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock, iso
from payments.clients.gateway import GatewayRejected, Gateways, GatewayUnavailable
from payments.domain.chargeback_responses import how_to_respond
from payments.domain.chargebacks import due_alert_key
from payments.domain.errors import MalformedEvent
from payments.store import chargebacks
from payments.store.chargebacks import DueChargeback
from payments.use_cases.alerts import raise_alert
from payments.use_cases.chargebacks.steps import record_responded


async def alert_due_chargeback(
    database: Database, gateways: Gateways, clock: Clock, due: DueChargeback, lead: timedelta
) -> bool:
    """Return whether an alert was raised. A response in the gateway's dashboard needs none; an unreachable gateway prevents no alert."""
    has_response = await _has_response(gateways, due)
    now = clock.now()
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        if has_response:
            await record_responded(uow, due.id, now)
            return False
        if not await chargebacks.claim_due_alert(uow, due.id, now, now + lead):
            return False
        raise_alert(
            uow,
            "SEV-1",
            "A chargeback has no response, and its date is near",
            f"Dispute {due.identity} over {due.amount_minor} {due.currency}, smallest unit, is lost without a response by "
            f"{iso(due.due_at)}. {how_to_respond(due.gateway)}",
            runbook="chargeback",
            key=due_alert_key(due.id),
            about=str(due.id),
        )
    return True


async def _has_response(gateways: Gateways, due: DueChargeback) -> bool:
    try:
        dispute = await gateways.of(due.gateway).find_dispute(due.identity)
    except (GatewayUnavailable, GatewayRejected, MalformedEvent):
        return False
    return dispute is not None and not dispute.awaits_response
