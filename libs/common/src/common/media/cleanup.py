"""Pictures that may leave their store: what was taken away, and what was put there and named by nobody.

A picture of the store is named by a row of the service, or stands in `leaving_pictures`, or both; never neither. It is listed before
it is stored, struck from the list with the row that names it, and listed again with the row that goes. A worker removes what is due,
and asks once more whether something names it: a process may die between any two of these, and a file that is shown is never removed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from common.auth.caller import ServiceItself
from common.database.unit_of_work import Database, UnitOfWork
from common.media.storage import MediaStore, MediaUnavailable
from common.observability.logging import get_logger
from common.observability.telemetry import RETENTION_FAILURES, RETENTION_OVERDUE_SECONDS, RETENTION_ROWS_REMOVED
from common.primitives.clock import Clock

log = get_logger(__name__)

REMOVING: Final = ServiceItself("pictures that nobody names")
# Between storing a picture and naming it lies a second. A day is longer than any request, and than the night in which a database is away.
UNREFERENCED_LIFE: Final = timedelta(days=1)
# Who sends a picture again at the moment in which it is taken away stores it within two calls of ten seconds: it is removed after that.
REMOVE_AFTER: Final = timedelta(minutes=1)
# Twenty pictures of two files, ten seconds each while the bucket hangs, end before others may believe that their worker died.
IMAGES_PER_BATCH: Final = 20
CLAIM_LIFE: Final = timedelta(minutes=10)
EVERY_SECONDS: Final = 10.0
WHAT: Final = "leaving_pictures"

# Whoever brings back a picture that is just being removed would lose the file: the claim makes them come again.
_EXPECT: Final = """
INSERT INTO leaving_pictures AS known (picture_id, owner_id, leave_at) VALUES ($1, $2, $3)
ON CONFLICT (picture_id) DO UPDATE SET leave_at = excluded.leave_at, claimed_until = NULL
WHERE known.claimed_until IS NULL OR known.claimed_until <= $4
"""
_CANCEL: Final = "DELETE FROM leaving_pictures WHERE picture_id = $1 AND leave_at > $2 AND claimed_until IS NULL"
# In the order of their ids, so that two who take the same away do not deadlock.
_SCHEDULE: Final = """
INSERT INTO leaving_pictures AS known (picture_id, owner_id, leave_at)
SELECT picture_id, owner_id, $3 FROM unnest($1::uuid[], $2::uuid[]) AS gone (picture_id, owner_id) ORDER BY picture_id
ON CONFLICT (picture_id) DO UPDATE SET leave_at = excluded.leave_at WHERE known.claimed_until IS NULL
"""
_LOCK_DUE: Final = """
SELECT picture_id FROM leaving_pictures
WHERE leave_at <= $1 AND (claimed_until IS NULL OR claimed_until <= $1)
ORDER BY leave_at LIMIT $2 FOR UPDATE SKIP LOCKED
"""
_CLAIM: Final = "UPDATE leaving_pictures SET claimed_until = $2 WHERE picture_id = ANY ($1) RETURNING picture_id"
_DELETE_REMOVED: Final = "DELETE FROM leaving_pictures WHERE picture_id = $1 AND claimed_until = $2"
_OLDEST_DUE: Final = "SELECT min(leave_at) FROM leaving_pictures WHERE leave_at <= $1"


@dataclass(frozen=True, slots=True)
class MediaReferences:
    """The pictures of one service. `named` is SQL about the row `leaving`: whether something shows its picture; `files` names its files."""

    named: str
    files: Callable[[UUID], Sequence[str]]


async def expect_image(uow: UnitOfWork, image_id: UUID, owner_id: UUID, now: datetime) -> None:
    """Before a picture is stored: without a row that names it, it leaves after a day. Raises MediaAway (503) while it is being removed."""
    if not await uow.execute(_EXPECT, image_id, owner_id, now + UNREFERENCED_LIFE, now):
        raise MediaUnavailable


async def cancel_image_removal(uow: UnitOfWork, image_id: UUID, now: datetime) -> None:
    """With the row that names it first. Raises MediaAway (503) when somebody took it away since it was stored."""
    if not await uow.execute(_CANCEL, image_id, now):
        raise MediaUnavailable


async def schedule_image_removal(uow: UnitOfWork, images: Sequence[tuple[UUID, UUID]], now: datetime) -> None:
    """With the rows that named them: the files of (picture, its owner) leave a minute after this is committed."""
    if images:
        remove_at = now + REMOVE_AFTER
        await uow.execute(_SCHEDULE, [image for image, _ in images], [owner for _, owner in images], remove_at)


async def remove_images_once(database: Database, media: MediaStore, references: MediaReferences, clock: Clock) -> int:
    """Removes what is due from the store; tells how many pictures went. What the store does not do now is tried again."""
    now = clock.now()
    until = now + CLAIM_LIFE
    removed = 0
    try:
        for image_id in await _claim(database, references, now, until):
            for name in references.files(image_id):
                await media.remove(name)
            async with database.unit_of_work(acting_as=REMOVING) as uow:
                await uow.execute(_DELETE_REMOVED, image_id, until)
            removed += 1
    except MediaUnavailable as error:
        # The others stay claimed, too: a store that is away is asked again in some minutes, not in some milliseconds.
        RETENTION_FAILURES.labels(WHAT).inc()
        log.error("pictures could not be removed from their store", error=repr(error.__cause__ or error))
    RETENTION_ROWS_REMOVED.labels(WHAT).inc(removed)
    async with database.unit_of_work(acting_as=REMOVING) as uow:
        oldest: datetime | None = await uow.fetch_value(_OLDEST_DUE, now)
    RETENTION_OVERDUE_SECONDS.labels(WHAT).set((now - oldest).total_seconds() if oldest else 0)
    return removed


async def _claim(database: Database, references: MediaReferences, now: datetime, until: datetime) -> list[UUID]:
    """What is due and named by nothing is claimed; what is named is struck from the list.

    Whether it is named is asked after the rows are held, by a statement of its own: it sees whatever was committed before.
    """
    async with database.unit_of_work(acting_as=REMOVING) as uow:
        due = [row["picture_id"] for row in await uow.fetch(_LOCK_DUE, now, IMAGES_PER_BATCH)]
        if not due:
            return []
        await uow.execute(
            f"DELETE FROM leaving_pictures AS leaving WHERE picture_id = ANY ($1) AND {references.named}",
            due,
        )
        return [row["picture_id"] for row in await uow.fetch(_CLAIM, due, until)]
