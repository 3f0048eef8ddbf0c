"""Query the gateway for disputes that it decided: a bank may reverse its decision, and the webhook may be lost."""

from datetime import datetime

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.observability.logging import get_logger
from payments.clients.gateway import GatewayRejected, PaymentGateway
from payments.domain.revisions import GatewaySubject
from payments.store import chargebacks
from payments.use_cases.webhooks.steps import file_gateway_response

log = get_logger(__name__)


async def query_decided_disputes(database: Database, gateway: PaymentGateway, since: datetime) -> int:
    """Return the number of new responses about the disputes that were decided since then.

    Each is processed as its missing webhook. One that the gateway rejects is left out. Raises GatewayUnavailable.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        decided = await chargebacks.list_decided_identities(uow, gateway.name, since)
    filed = 0
    for identity in decided:
        try:
            event = await gateway.find_event(GatewaySubject("dispute", identity))
        except GatewayRejected as rejection:
            log.warning("decided dispute cannot be queried", dispute=identity, error=str(rejection))
            continue
        filed += event is not None and await file_gateway_response(database, gateway.name, event)
    return filed
