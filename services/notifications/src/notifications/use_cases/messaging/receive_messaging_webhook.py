"""Take in what the messaging app sent: file it and leave its work, in one commit (contract section 9)."""

from datetime import datetime
from typing import Any

import asyncpg
import msgspec

from common.database.unit_of_work import Database
from notifications.domain.messaging_webhook import event_type_of, key_of_body, read_body
from notifications.store import messaging


async def receive_messaging_webhook(database: Database, raw: bytes, now: datetime) -> bool:
    """Commits a well-signed body whatever its shape; False for one that came before.

    Raises DatabaseAway when nothing could be committed: the app sends it again.
    """
    body, key = read_body(raw), key_of_body(raw)
    event_type = event_type_of(body)
    # What jsonb cannot hold as JSON stands there as a text; the bytes are kept beside it.
    text = raw.decode("utf-8", "replace").replace("\x00", "\ufffd")
    payload: Any = text if body is None else msgspec.Raw(raw)
    try:
        return await messaging.record_messaging_webhook_if_new(database, key, event_type, payload, raw, now)
    except (asyncpg.DataError, asyncpg.ProgramLimitExceededError):
        return await messaging.record_messaging_webhook_if_new(database, key, event_type, text, raw, now)
