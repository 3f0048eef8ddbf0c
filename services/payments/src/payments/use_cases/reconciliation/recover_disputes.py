"""Record the disputes of a period that the gateway lists and no webhook has reported, decided ones too."""

from datetime import datetime

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.observability.logging import get_logger
from payments.clients.gateway import PaymentGateway
from payments.domain.revisions import GatewaySubject
from payments.store import chargebacks
from payments.use_cases.reconciliation.reconcile_charges import PAGES_MAX
from payments.use_cases.webhooks.steps import file_gateway_response

log = get_logger(__name__)


async def recover_disputes(database: Database, gateway: PaymentGateway, start: datetime, end: datetime) -> int:
    """Return the number of recorded disputes. Each is processed as its missing webhook. Raises GatewayUnavailable and
    GatewayRejected.
    """
    filed = 0
    for page in range(1, PAGES_MAX + 1):
        listed = await gateway.page_of_disputes(start, end, page)
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            unknown = await chargebacks.list_unknown_identities(uow, listed.rows)
        for identity in unknown:
            event = await gateway.find_event(GatewaySubject("dispute", identity))
            if event is not None and await file_gateway_response(database, gateway.name, event):
                filed += 1
                log.warning("webhooks missing, dispute fetched from the gateway", dispute=identity)
        if listed.is_last:
            break
    return filed
