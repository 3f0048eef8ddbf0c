"""File a webhook under its key together with its work item."""

from collections.abc import Callable

from common.database.outbox import OutboxRow
from common.database.unit_of_work import Database
from payments.domain.gateways import GatewayName
from payments.domain.webhooks import Arrival
from payments.store.webhooks import record_webhook_if_new


async def file_webhook(
    database: Database,
    gateway: GatewayName,
    arrival: Arrival,
    raw: bytes,
    *,
    is_json: bool,
    enqueue: Callable[[GatewayName, OutboxRow], None] | None = None,
) -> bool:
    """Return whether the key is new. Its work item is then queued, and handed to `enqueue`, by default to the relay."""
    work = await record_webhook_if_new(database, gateway, arrival, raw, is_json=is_json)
    if work is None:
        return False
    if enqueue is None:
        database.handover.add([work])
    else:
        enqueue(gateway, work)
    return True
