"""File a body under its key and leave its work, in one commit."""

from typing import Any

import asyncpg
import msgspec

from common.database.unit_of_work import Database
from payments.domain.webhooks import Arrival, storable_text
from payments.store import record_webhook_if_new


async def file_webhook(database: Database, arrival: Arrival, raw: bytes, body: Any) -> bool:
    """Whether the key is new: then its work was left, and the relay is woken."""
    try:
        # The bytes go in as they came: encoding the parsed body again would cost more than the statement.
        payload = storable_text(raw) if body is None else msgspec.Raw(raw)
        is_first = await record_webhook_if_new(database, arrival, raw, payload)
    except (asyncpg.DataError, asyncpg.ProgramLimitExceededError):
        # JSON that jsonb cannot hold: U+0000, a lone surrogate, a number or a depth beyond its bounds.
        is_first = await record_webhook_if_new(database, arrival, raw, storable_text(raw))
    if is_first:
        database.outbox_wakeup.set()
    return is_first
