"""The inbox: a message takes effect once in each consumer, however often the broker delivers it."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork

_RECORD: Final = """
INSERT INTO inbox (event_id, consumer) SELECT * FROM unnest($1::uuid[], $2::text[]) ORDER BY 1, 2
ON CONFLICT (event_id, consumer) DO NOTHING
RETURNING event_id, consumer
"""


async def record_new_messages(uow: UnitOfWork, messages: Sequence[tuple[UUID, str]]) -> set[tuple[UUID, str]]:
    """Return the pairs of event id and consumer that are new. A concurrent delivery waits for the first one's commit.

    The rows are inserted in their order, so that two batches with the same messages do not deadlock. A repetition is
    acknowledged only when the first one's commit is on a second machine.
    """
    if not messages:
        return set()
    rows = await uow.fetch(_RECORD, [event_id for event_id, _ in messages], [consumer for _, consumer in messages])
    if len(rows) < len(messages):
        uow.confirm_earlier()
    return {(row["event_id"], row["consumer"]) for row in rows}
