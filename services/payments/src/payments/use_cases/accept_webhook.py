"""Take a webhook in: file it under its key and leave its work, in one commit (contract section 9)."""

from typing import Any

import asyncpg
import msgspec

from common.database import Database
from payments.domain.webhooks import MAY_BE_REVISED, Arrival, identify, identify_revision, read_body, storable_text
from payments.store import record_webhook_once, webhook_differs


async def accept_webhook(database: Database, raw: bytes) -> bool:
    """Commits a well-signed body whatever its shape, and wakes the relay; False for a duplicate.

    A dispute that is decided otherwise, or a transfer that arrives again after it came back, has the same key and another body: the
    money moves twice, so it is filed beside the first. Raises DatabaseAway when nothing could be committed: the gateway sends it again.
    """
    body = read_body(raw)
    arrival = identify(raw, body)
    is_first = await _file(database, arrival, raw, body)
    if not is_first and arrival.event_type in MAY_BE_REVISED and await webhook_differs(database, arrival, raw):
        is_first = await _file(database, identify_revision(arrival, raw), raw, body)
    if is_first:
        database.outbox_bell.set()
    return is_first


async def _file(database: Database, arrival: Arrival, raw: bytes, body: Any) -> bool:
    try:
        # The bytes go in as they came: encoding the parsed body again would cost more than the statement.
        payload = storable_text(raw) if body is None else msgspec.Raw(raw)
        return await record_webhook_once(database, arrival, raw, payload)
    except (asyncpg.DataError, asyncpg.ProgramLimitExceededError):
        # JSON that jsonb cannot hold: U+0000, a lone surrogate, a number or a depth beyond its bounds.
        return await record_webhook_once(database, arrival, raw, storable_text(raw))
