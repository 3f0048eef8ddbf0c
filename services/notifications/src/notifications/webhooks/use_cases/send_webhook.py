"""Send a claimed webhook and record the result."""

from datetime import datetime

import msgspec

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock, iso
from common.primitives.encryption import Encryptor
from notifications.webhooks.clients import WebhookClient
from notifications.webhooks.domain.webhooks import ClaimedWebhook, EndpointSecrets, signatures_of
from notifications.webhooks.use_cases.record_attempt import record_attempt


async def send_webhook(
    claimed: ClaimedWebhook, database: Database, clock: Clock, client: WebhookClient, encryptor: Encryptor
) -> None:
    """Sign, call and record. If the worker dies in between, the event is sent again after its lease."""
    now, event = clock.now(), claimed.event
    body = msgspec.json.encode({"type": event.type, "timestamp": iso(event.occurred_at), "data": event.data})
    timestamp = int(now.timestamp())
    secrets = _secrets(claimed.secrets, str(claimed.endpoint_id), encryptor, now)
    headers = {
        "webhook-id": str(event.id),
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signatures_of(secrets, str(event.id), timestamp, body),
    }
    if event.traceparent is not None:
        headers["traceparent"] = event.traceparent
    response = await client.post(claimed.url, body, headers)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await record_attempt(uow, claimed, response, clock.now())


def _secrets(stored: EndpointSecrets, context: str, encryptor: Encryptor, now: datetime) -> list[str]:
    """Return the current secret, and the previous one until it expires."""
    secrets = [encryptor.decrypt(stored.current, context)]
    if stored.previous is not None and stored.previous_until is not None and now < stored.previous_until:
        secrets.append(encryptor.decrypt(stored.previous, context))
    return secrets
