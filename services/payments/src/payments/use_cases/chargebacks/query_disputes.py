"""Query the gateway for disputes whose webhook has not arrived. Without a response a dispute is lost."""

from typing import Final

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from payments.clients.gateway import PaymentGateway
from payments.domain.revisions import GatewaySubject
from payments.store import chargebacks
from payments.use_cases.webhooks.steps import file_gateway_response

# Ten thousand disputes at one time; bounds the run against a gateway whose list never ends.
PAGES_MAX: Final = 100


async def query_disputes(database: Database, gateway: PaymentGateway) -> int:
    """Return the number of new states: of disputes that await a response and are not recorded, and of recorded ones
    that await none.

    Each is processed as its missing webhook. Raises GatewayUnavailable and GatewayRejected.
    """
    awaiting: list[str] = []
    for page in range(1, PAGES_MAX + 1):
        listed = await gateway.page_of_open_disputes(page)
        awaiting += listed.rows
        if listed.is_last:
            break
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        unknown = await chargebacks.list_unknown_identities(uow, awaiting)
        opened = await chargebacks.list_opened_identities(uow, gateway.name)
    filed = 0
    for identity in [*unknown, *(identity for identity in opened if identity not in awaiting)]:
        event = await gateway.find_event(GatewaySubject("dispute", identity))
        filed += event is not None and await file_gateway_response(database, gateway.name, event)
    return filed
