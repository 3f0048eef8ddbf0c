"""Backup of the image stores: each image once, and a list of all names at each run.

An image that the store removed stays in the repository as long as a list names it, so an erased one is removed with
the last list of the retention period.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from operations.backup.encrypted_objects import ObjectCipher
from operations.backup.errors import BackupFailed
from operations.backup.objects import Objects, open_objects
from operations.backup.settings import BucketSettings

_FORMAT: Final = "%Y%m%dT%H%M%SZ"
LISTS: Final = "image-lists"
IMAGES: Final = "images"


@dataclass(frozen=True, slots=True)
class CopiedImages:
    """The number of images that the stores have, and of those that this run added and removed."""

    images: int
    added: int
    removed: int


def stamp(at: datetime) -> str:
    """Return an instant as the name of an object."""
    return at.astimezone(UTC).strftime(_FORMAT)


def instant_of(name: str) -> datetime:
    """Return the instant in the name of an object."""
    return datetime.strptime(name.partition(".")[0], _FORMAT).replace(tzinfo=UTC)


async def back_up_images(
    stores: Mapping[str, Path | BucketSettings],
    repository: Objects,
    cipher: ObjectCipher,
    now: datetime,
    keep: timedelta,
) -> CopiedImages:
    """Copy images that the repository lacks, write the list of all, and remove what no kept list names."""
    stored = await repository.names(IMAGES)
    listed: dict[str, list[str]] = {}
    added = 0
    for store_name, store in stores.items():
        async with open_objects(store) as images:
            names = sorted(await images.names())
            for name in names:
                if f"{store_name}/{name}" not in stored:
                    path = f"{IMAGES}/{store_name}/{name}"
                    await repository.write(path, cipher.encrypt(path, await images.read(name)))
                    added += 1
            listed[store_name] = names
    path = f"{LISTS}/{stamp(now)}.json"
    await repository.write(path, cipher.encrypt(path, json.dumps(listed).encode()))
    removed = await _expire(repository, cipher, now - keep)
    return CopiedImages(sum(map(len, listed.values())), added, removed)


async def _expire(repository: Objects, cipher: ObjectCipher, before: datetime) -> int:
    lists = sorted(await repository.names(LISTS))
    # The last list before the period is needed for an instant at its start.
    older = [name for name in lists if instant_of(name) < before][:-1]
    for name in older:
        await repository.remove(f"{LISTS}/{name}")
    if not older:
        return 0
    kept = [await _read_list(repository, cipher, name) for name in lists if name not in older]
    named = {f"{store}/{name}" for one in kept for store, names in one.items() for name in names}
    expired = await repository.names(IMAGES) - named
    for name in expired:
        await repository.remove(f"{IMAGES}/{name}")
    return len(expired)


async def verify_images(repository: Objects, cipher: ObjectCipher) -> int:
    """Decrypt each image of the last list. Return their number. Raises BackupFailed with those that are missing."""
    names = await _named_at(repository, cipher, datetime.max.replace(tzinfo=UTC))
    missing = names - await repository.names(IMAGES)
    if missing:
        raise BackupFailed(
            f"The repository lacks {len(missing)} images of its last list, for example {min(missing)}.",
            "Run `campusctl backup run`: it copies them again while the store has them.",
        )
    for name in names:
        path = f"{IMAGES}/{name}"
        cipher.decrypt(path, await repository.read(path))
    return len(names)


async def restore_images(repository: Objects, cipher: ObjectCipher, at: datetime, into: Path) -> int:
    """Write the images of an instant below a folder: those of the lists before and after it. Return their number.

    A restored database refers to no image beside these; the store's retention removes those without a reference.
    """
    names = await _named_at(repository, cipher, at) & await repository.names(IMAGES)
    async with open_objects(into) as target:
        for name in sorted(names):
            path = f"{IMAGES}/{name}"
            await target.write(name, cipher.decrypt(path, await repository.read(path)))
    return len(names)


async def _named_at(repository: Objects, cipher: ObjectCipher, at: datetime) -> set[str]:
    chosen = around(await repository.names(LISTS), at)
    lists = [await _read_list(repository, cipher, name) for name in chosen]
    return {f"{store}/{name}" for one in lists for store, names in one.items() for name in names}


def around(names: Iterable[str], at: datetime) -> list[str]:
    """Return the last name at or before the instant, and the first one after it."""
    ordered = sorted(names)
    return [name for name in ordered if instant_of(name) <= at][-1:] + [
        name for name in ordered if instant_of(name) > at
    ][:1]


async def _read_list(repository: Objects, cipher: ObjectCipher, name: str) -> dict[str, list[str]]:
    path = f"{LISTS}/{name}"
    document: dict[str, list[str]] = json.loads(cipher.decrypt(path, await repository.read(path)))
    return document
