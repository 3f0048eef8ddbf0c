"""Take a webhook in: file it under its key and leave its work, in one commit (contract section 9)."""

import asyncpg
import msgspec

from common.database import Database
from payments.domain.webhooks import identify, read_body, storable_text
from payments.store import record_webhook_once


async def accept_webhook(database: Database, raw: bytes) -> bool:
    """Commits a well-signed body whatever its shape, and wakes the relay; False for a duplicate.

    Raises DatabaseAway when nothing could be committed: the gateway sends it again.
    """
    body = read_body(raw)
    arrival = identify(raw, body)
    try:
        # The bytes go in as they came: encoding the parsed body again would cost more than the statement.
        payload = storable_text(raw) if body is None else msgspec.Raw(raw)
        is_first = await record_webhook_once(database, arrival, raw, payload)
    except (asyncpg.DataError, asyncpg.ProgramLimitExceededError):
        # JSON that jsonb cannot hold: U+0000, a lone surrogate, a number or a depth beyond its bounds.
        is_first = await record_webhook_once(database, arrival, raw, storable_text(raw))
    if is_first:
        database.outbox_bell.set()
    return is_first
