"""The inbox: a message takes effect once in each consumer, however often the broker delivers it."""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork

_RECORD: Final = """
INSERT INTO inbox (event_id, consumer) VALUES ($1, $2)
ON CONFLICT (event_id, consumer) DO NOTHING
RETURNING true
"""


async def record_message_if_new(uow: UnitOfWork, event_id: UUID, consumer: str) -> bool:
    """Returns whether the message is new to the consumer. A concurrent delivery waits for the first one's commit."""
    return bool(await uow.fetch_value(_RECORD, event_id, consumer))
