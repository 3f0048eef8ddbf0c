"""Submit a response to the gateway: claim and commit, call, record. A repeated call has no second effect."""

from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from payments.clients.gateway import GatewayRejected, Gateways, PaymentGateway
from payments.domain.chargeback_responses import DisputeEvidence, retry_delay
from payments.domain.transitions import ResponseOutcome
from payments.store import chargeback_responses
from payments.store.chargeback_responses import ClaimedResponse
from payments.use_cases.alerts import alert_response_rejected
from payments.use_cases.chargebacks.steps import record_responded


async def submit_response(database: Database, gateways: Gateways, clock: Clock, response_id: UUID) -> bool:
    """Return whether the response is final. One without an outcome is sent again later: evidence counts once more at
    most, and the gateway accepts one resolution. Raises GatewayUnavailable.
    """
    claimed = await _claim(database, clock, response_id)
    if claimed is None:
        return False
    gateway = gateways.of(claimed.gateway)
    evidence_id = failure = None
    try:
        # An earlier attempt may have had its effect without a response.
        if claimed.attempts == 1 or not await _has_arrived(gateway, claimed):
            evidence_id = await _send(gateway, claimed)
    except GatewayRejected as rejection:
        failure = None if await _has_arrived(gateway, claimed) else str(rejection)
    now = clock.now()
    status: ResponseOutcome = "submitted" if failure is None else "rejected"
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        if not await chargeback_responses.finish_response(
            uow, response_id, status, now, failure=failure, evidence_id=evidence_id
        ):
            return False
        if failure is not None:
            alert_response_rejected(uow, claimed.chargeback_id, response_id, failure)
        elif not isinstance(claimed.content, DisputeEvidence):
            await record_responded(uow, claimed.chargeback_id, now)
    return True


async def _claim(database: Database, clock: Clock, response_id: UUID) -> ClaimedResponse | None:
    """Count the attempt and set the time of the next one, which also ends the claim of a process that died."""
    now = clock.now()
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        found = await chargeback_responses.lock_due_response(uow, response_id, now)
        if found is None:
            return None
        claimed, chargeback_status = found
        if chargeback_status != "opened":
            await chargeback_responses.finish_response(uow, response_id, "overtaken", now)
            return None
        attempts = claimed.attempts + 1
        await chargeback_responses.save_attempt(uow, response_id, attempts, now + retry_delay(attempts))
        return claimed._replace(attempts=attempts)


async def _send(gateway: PaymentGateway, claimed: ClaimedResponse) -> str | None:
    responses = gateway.dispute_responses
    if responses is None:
        raise GatewayRejected(400, f"respond to this chargeback in the dashboard of {gateway.name}")
    if isinstance(claimed.content, DisputeEvidence):
        return await responses.add_dispute_evidence(claimed.identity, claimed.content)
    await responses.resolve_dispute(claimed.identity, claimed.content)
    return None


async def _has_arrived(gateway: PaymentGateway, claimed: ClaimedResponse) -> bool:
    """Return whether the gateway has a resolution. Evidence is simply sent again."""
    if isinstance(claimed.content, DisputeEvidence):
        return False
    dispute = await gateway.find_dispute(claimed.identity)
    return dispute is not None and not dispute.awaits_response
