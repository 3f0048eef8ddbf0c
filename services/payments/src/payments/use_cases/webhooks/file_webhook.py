"""File a webhook under its key together with its work item."""

from common.database.unit_of_work import Database
from payments.domain.gateways import GatewayName
from payments.domain.webhooks import Arrival
from payments.store.webhooks import record_webhook_if_new


async def file_webhook(
    database: Database, gateway: GatewayName, arrival: Arrival, raw: bytes, *, is_json: bool
) -> bool:
    """Whether the key is new. Its work item is then queued, and the relay is woken."""
    is_first = await record_webhook_if_new(database, gateway, arrival, raw, is_json=is_json)
    if is_first:
        database.outbox_wakeup.set()
    return is_first
