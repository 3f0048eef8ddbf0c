"""Query the gateway for the refunds that a webhook may be about: it names the transaction and the amount only."""

from collections.abc import Sequence
from dataclasses import replace

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from payments.clients.gateway import Gateways
from payments.domain.identifiers import attempt_of_reference, refund_reference
from payments.domain.refunds import IN_PROGRESS_STATUSES, RefundEvent, RefundUpdate
from payments.store import refund_attempts
from payments.use_cases.refunds.query_attempt import query_attempt


async def query_reported_refunds(database: Database, gateways: Gateways, event: RefundEvent) -> Sequence[RefundUpdate]:
    """Return the present states of our attempts. When none of them explains the webhook: of the charge's refunds
    without a note of ours.

    Raises GatewayUnavailable, GatewayRejected and MalformedEvent, which are retried.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        attempts = await refund_attempts.list_reported_attempts(uow, event.transaction_reference, event.amount_minor)
        gateway = await refund_attempts.find_gateway_of_charge(uow, event.transaction_reference)
    if event.status in IN_PROGRESS_STATUSES and attempts:
        return ()
    queried = [(attempt, await query_attempt(gateways.of(attempt.gateway), attempt)) for attempt in attempts]
    updates = [replace(update, note=refund_reference(attempt.id)) for attempt, update in queried if update is not None]
    if gateway is None or any(update.status == event.status for update in updates):
        return updates
    listed = await gateways.of(gateway).list_refunds(event.transaction_reference)
    outside = [
        replace(update, transaction_reference=event.transaction_reference)
        for update in listed
        if attempt_of_reference(update.note) is None
    ]
    return [*updates, *outside]
