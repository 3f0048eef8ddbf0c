"""The devices that a push goes to: SQL by name, without decisions."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id

# One person at a time registers and counts, so that two requests at once do not exceed the limit together.
_LOCK_USER: Final = "SELECT pg_advisory_xact_lock(hashtextextended('devices:' || $1::text, 0))"
_COUNT: Final = "SELECT count(*) FROM user_devices WHERE user_id = $1 AND address <> $2"
_SAVE: Final = """
INSERT INTO user_devices AS d (id, user_id, kind, address, public_key, auth_secret, created_at, registered_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
ON CONFLICT (address) DO UPDATE
SET user_id = excluded.user_id, kind = excluded.kind, public_key = excluded.public_key,
    auth_secret = excluded.auth_secret, registered_at = excluded.registered_at,
    id = CASE d.user_id WHEN excluded.user_id THEN d.id ELSE excluded.id END,
    created_at = CASE d.user_id WHEN excluded.user_id THEN d.created_at ELSE excluded.created_at END
RETURNING id, kind, created_at, registered_at
"""
_REMOVE: Final = "DELETE FROM user_devices WHERE id = $1"
_REMOVE_ADDRESS: Final = "DELETE FROM user_devices WHERE id = $1 AND address = $2"
_REMOVE_BEFORE: Final = "DELETE FROM user_devices WHERE user_id = $1 AND registered_at < $2"
_REMOVE_ALL: Final = "DELETE FROM user_devices WHERE user_id = $1"


async def lock_devices(uow: UnitOfWork, user_id: UUID) -> None:
    """Makes the other registrations of this person wait."""
    await uow.execute(_LOCK_USER, str(user_id))


async def forget_devices_before(uow: UnitOfWork, user_id: UUID, instant: datetime) -> None:
    """Deletes the user's devices that were last registered before this instant."""
    await uow.execute(_REMOVE_BEFORE, user_id, instant)


async def count_other_devices(uow: UnitOfWork, user_id: UUID, address: str) -> int:
    """How many devices the person has beside the one of that address."""
    count: int = await uow.fetch_value(_COUNT, user_id, address)
    return count


async def save_device(
    uow: UnitOfWork,
    user_id: UUID,
    kind: str,
    address: str,
    public_key: str | None,
    auth_secret: str | None,
    now: datetime,
) -> Any:
    """The device of that address, of this person from now on. With another person it gets a new id: nothing sent to the
    old one goes to the new owner."""
    return await uow.fetch_row(_SAVE, new_id(), user_id, kind, address, public_key, auth_secret, now)


async def remove_device(uow: UnitOfWork, device_id: UUID) -> bool:
    """Whether the caller had such a device."""
    return bool(await uow.execute(_REMOVE, device_id))


async def forget_dead_device(uow: UnitOfWork, device_id: UUID, address: str) -> bool:
    """Removes a device that is never reached again, unless it has another address meanwhile."""
    return bool(await uow.execute(_REMOVE_ADDRESS, device_id, address))


async def forget_devices(uow: UnitOfWork, user_id: UUID) -> None:
    """Removes all devices of a person."""
    await uow.execute(_REMOVE_ALL, user_id)
