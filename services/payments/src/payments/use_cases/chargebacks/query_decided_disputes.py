"""Query the gateway for disputes that it decided: a bank may reverse its decision, and the webhook may be lost."""

from datetime import datetime

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from payments.clients.gateway import PaymentGateway
from payments.domain.revisions import GatewaySubject
from payments.store import chargebacks
from payments.use_cases.webhooks.steps import file_gateway_response


async def query_decided_disputes(database: Database, gateway: PaymentGateway, since: datetime) -> int:
    """Return the number of new responses about the disputes that were decided since then.

    Each is processed as its missing webhook. Raises GatewayUnavailable and GatewayRejected.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        decided = await chargebacks.list_decided_identities(uow, gateway.name, since)
    filed = 0
    for identity in decided:
        event = await gateway.find_event(GatewaySubject("dispute", identity))
        filed += event is not None and await file_gateway_response(database, gateway.name, event)
    return filed
