"""Query the gateway for the refunds that a webhook may be about: it names the transaction and the amount only."""

from collections.abc import Sequence
from dataclasses import replace

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from payments.clients.gateway import Gateways
from payments.domain.identifiers import refund_reference
from payments.domain.refunds import RefundEvent, RefundUpdate
from payments.store import refund_attempts
from payments.use_cases.refunds.query_attempt import query_attempt


async def query_reported_refunds(database: Database, gateways: Gateways, event: RefundEvent) -> Sequence[RefundUpdate]:
    """The present states of our attempts; none for a refund that is not ours. Raises GatewayUnavailable, GatewayRejected and
    MalformedEvent, which are retried.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        attempts = await refund_attempts.list_reported_attempts(uow, event.transaction_reference, event.amount_minor)
    updates = [(attempt, await query_attempt(gateways.of(attempt.gateway), attempt)) for attempt in attempts]
    return [replace(update, note=refund_reference(attempt.id)) for attempt, update in updates if update is not None]
