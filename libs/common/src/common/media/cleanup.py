"""Cleanup of stored images that no row references: images that were removed, and uploads that were never referenced.

Every stored image is referenced by a row of the service or listed in `leaving_pictures`, or both. It is listed before
it is stored, removed from the list with the row that references it, and listed again when that row is deleted. A worker
removes images that are due and checks their references once more. A crash between any two steps never removes a
referenced file.
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

REMOVING: Final = ServiceItself("cleanup of unreferenced images")
# An image is referenced within a second of its upload. A day is longer than any request, and than an outage of a night.
UNREFERENCED_LIFE: Final = timedelta(days=1)
# A concurrent upload of the same image finishes within two calls of ten seconds; the removal runs after that.
REMOVE_AFTER: Final = timedelta(minutes=1)
# Twenty images of two files, at ten seconds each when the bucket hangs, end before the claim expires.
IMAGES_PER_BATCH: Final = 20
CLAIM_LIFE: Final = timedelta(minutes=10)
EVERY_SECONDS: Final = 10.0
WHAT: Final = "leaving_pictures"

# An upload during the removal of the same image would lose the file, so a claim rejects it.
_EXPECT: Final = """
INSERT INTO leaving_pictures AS known (picture_id, owner_id, leave_at) VALUES ($1, $2, $3)
ON CONFLICT (picture_id) DO UPDATE SET leave_at = excluded.leave_at, claimed_until = NULL
WHERE known.claimed_until IS NULL OR known.claimed_until <= $4
"""
_CANCEL: Final = "DELETE FROM leaving_pictures WHERE picture_id = $1 AND leave_at > $2 AND claimed_until IS NULL"
# In the order of the ids, so that concurrent removals of the same images do not deadlock.
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
    """The images of one service. `named` is SQL on the row `leaving`, true while its image is referenced.

    `files` returns the file names of an image.
    """

    named: str
    files: Callable[[UUID], Sequence[str]]


async def expect_image(uow: UnitOfWork, image_id: UUID, owner_id: UUID, now: datetime) -> None:
    """List an image before it is stored: unless a row references it, it is removed after a day.

    Raises MediaUnavailable (503) while the image is being removed.
    """
    if not await uow.execute(_EXPECT, image_id, owner_id, now + UNREFERENCED_LIFE, now):
        raise MediaUnavailable


async def cancel_image_removal(uow: UnitOfWork, image_id: UUID, now: datetime) -> None:
    """Cancel the removal, in the transaction of the first row that references the image.

    Raises MediaUnavailable (503) when the image was removed since it was stored.
    """
    if not await uow.execute(_CANCEL, image_id, now):
        raise MediaUnavailable


async def schedule_image_removal(uow: UnitOfWork, images: Sequence[tuple[UUID, UUID]], now: datetime) -> None:
    """Remove the files of (image, owner) a minute after the transaction that deletes their references."""
    if images:
        remove_at = now + REMOVE_AFTER
        await uow.execute(_SCHEDULE, [image for image, _ in images], [owner for _, owner in images], remove_at)


async def remove_images_once(database: Database, media: MediaStore, references: MediaReferences, clock: Clock) -> int:
    """Remove the images that are due from the store, and returns their number. Failed removals are retried."""
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
        # The others stay claimed as well: an unavailable store is retried after minutes, not milliseconds.
        RETENTION_FAILURES.labels(WHAT).inc()
        log.error("images not removed: media store unavailable, retrying", error=repr(error.__cause__ or error))
    RETENTION_ROWS_REMOVED.labels(WHAT).inc(removed)
    async with database.unit_of_work(acting_as=REMOVING) as uow:
        oldest: datetime | None = await uow.fetch_value(_OLDEST_DUE, now)
    RETENTION_OVERDUE_SECONDS.labels(WHAT).set((now - oldest).total_seconds() if oldest else 0)
    return removed


async def _claim(database: Database, references: MediaReferences, now: datetime, until: datetime) -> list[UUID]:
    """Claims due images without references, and removes referenced ones from the list.

    A separate statement checks the references after the rows are locked, so that it sees all earlier commits.
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
