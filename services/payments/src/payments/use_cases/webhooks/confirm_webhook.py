"""Query the gateway for the state of a webhook's subject when its content is not trusted, and file the response."""

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from payments.clients.gateway import Gateways
from payments.domain.revisions import is_gateway_response
from payments.store.webhooks import find_webhook
from payments.use_cases.webhooks.steps import file_gateway_response


async def confirm_webhook(
    database: Database, gateways: Gateways, webhook_id: str, *, is_unconfirmed: bool = False
) -> None:
    """Do nothing for a webhook that was processed, or whose gateway signs its content unless `is_unconfirmed`. The
    response is processed as its own webhook.

    Safe to repeat: a response of the same content is filed once. Raises GatewayUnavailable and GatewayRejected.
    """
    webhook = await find_webhook(database.reads_for(THE_SERVICE), webhook_id)
    if webhook is None or webhook.outcome != "queued" or is_gateway_response(webhook_id):
        return
    gateway = gateways.of(webhook.gateway)
    subject = (
        gateway.subject_of(webhook.event_type, webhook.raw) if gateway.confirms_webhooks or is_unconfirmed else None
    )
    event = None if subject is None else await gateway.find_event(subject)
    if event is not None:
        await file_gateway_response(database, gateway.name, event)
