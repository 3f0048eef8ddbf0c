"""Receive a webhook: file it under its key with its work item, in one commit (contract section 9)."""

from typing import Literal

from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from payments.clients.gateway import GatewayEvents
from payments.domain.webhooks import content_hash_of, read_body
from payments.store.webhooks import find_other_body
from payments.use_cases.webhooks.steps import ProcessFiled, file_webhook, record_revision

WebhookResult = Literal["first", "duplicate", "revised"]


async def receive_webhook(
    database: Database,
    events: GatewayEvents,
    clock: Clock,
    raw: bytes,
    process: ProcessFiled | None = None,
) -> WebhookResult:
    """File a correctly signed body of any shape, and `process` it, or hand its work item to the relay.

    The same content under a recorded key is a duplicate. Other content is stored as a revision and never processed
    (section 9.2). Raises DatabaseUnavailable when nothing could be committed: the gateway resends it.
    """
    arrival = events.identify(raw)
    if await file_webhook(database, events.name, arrival, raw, is_json=read_body(raw) is not None, process=process):
        return "first"
    other = await find_other_body(database, arrival.id, raw)
    if other is None or content_hash_of(other) == content_hash_of(raw):
        return "duplicate"
    is_new = await record_revision(database, events, arrival, other, raw, clock.now())
    return "revised" if is_new else "duplicate"
