"""File the gateway's response to a query as a webhook of its own."""

from common.database.unit_of_work import Database
from payments.domain.gateways import GatewayName
from payments.domain.revisions import QueriedEvent
from payments.use_cases.webhooks.file_webhook import file_webhook


async def file_gateway_response(database: Database, gateway: GatewayName, event: QueriedEvent) -> bool:
    """Return whether the response is new. A response of the same content is processed once.

    Its key differs from every webhook's, so that the webhook itself is still filed when it arrives.
    """
    return await file_webhook(database, gateway, event.arrival, event.raw, is_json=True)
