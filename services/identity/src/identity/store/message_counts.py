"""Counts of messages by subject, known or not; the subject is stored as a keyed hash only."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from common.database.unit_of_work import UnitOfWork

# All requests lock the subjects in one order, that of their hashes. A window restarts with the first message after its
# end.
_COUNT: Final = """
INSERT INTO message_counts AS c (subject_hash, window_ends_at, messages)
SELECT * FROM unnest($2::bytea[], $3::timestamptz[], $4::integer[]) AS added (subject_hash, window_ends_at, messages)
ORDER BY subject_hash
ON CONFLICT (subject_hash) DO UPDATE SET
    messages = excluded.messages + CASE WHEN c.window_ends_at <= $1 THEN 0 ELSE c.messages END,
    window_ends_at = CASE WHEN c.window_ends_at <= $1 THEN excluded.window_ends_at ELSE c.window_ends_at END
RETURNING subject_hash, messages, window_ends_at
"""
_DELETE: Final = "DELETE FROM message_counts WHERE subject_hash = ANY ($1::bytea[])"


async def count_messages(
    uow: UnitOfWork, now: datetime, added: Sequence[tuple[bytes, datetime, int]]
) -> dict[bytes, tuple[int, datetime]]:
    """Add to the counts of subjects, each with the end of a window that starts now and the number of messages.

    Return the counts with the ends of their windows. The caller rolls back when one is exceeded.
    """
    columns = [list(column) for column in zip(*added, strict=True)]
    rows = await uow.fetch(_COUNT, now, *columns)
    return {row["subject_hash"]: (row["messages"], row["window_ends_at"]) for row in rows}


async def clear_counts(uow: UnitOfWork, subject_hashes: Sequence[bytes]) -> None:
    await uow.execute(_DELETE, list(subject_hashes))
