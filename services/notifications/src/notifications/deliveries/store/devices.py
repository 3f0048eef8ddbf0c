"""Writes of push devices."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from notifications.deliveries.domain.devices import RegisteredDevice

# Serializes the registrations of a user, so that concurrent ones cannot exceed the limit together.
_LOCK_USER: Final = "SELECT pg_advisory_xact_lock(hashtextextended('devices:' || $1::text, 0))"
_COUNT: Final = "SELECT count(*) FROM user_devices WHERE user_id = $1 AND address <> $2"
_SAVE: Final = """
INSERT INTO user_devices AS d (id, user_id, kind, address, public_key, auth_secret, created_at, registered_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
ON CONFLICT (address) DO UPDATE
SET kind = excluded.kind, public_key = excluded.public_key, auth_secret = excluded.auth_secret,
    registered_at = excluded.registered_at
WHERE d.user_id = excluded.user_id
RETURNING id, kind, created_at, registered_at
"""
_REMOVE: Final = "DELETE FROM user_devices WHERE id = $1"
_REMOVE_ADDRESS: Final = "DELETE FROM user_devices WHERE id = $1 AND address = $2"
_REMOVE_BEFORE: Final = """
DELETE FROM user_devices WHERE id IN (
    SELECT id FROM user_devices WHERE user_id = $1 AND ($2::timestamptz IS NULL OR registered_at < $2)
    ORDER BY id FOR UPDATE
)
"""


async def lock_devices(uow: UnitOfWork, user_id: UUID) -> None:
    """Serialize the user's registrations."""
    await uow.execute(_LOCK_USER, str(user_id))


async def delete_devices_registered_before(uow: UnitOfWork, user_id: UUID, instant: datetime) -> None:
    """Delete the user's devices that were last registered before this instant."""
    await uow.execute(_REMOVE_BEFORE, user_id, instant)


async def count_other_devices(uow: UnitOfWork, user_id: UUID, address: str) -> int:
    """Return the number of the user's devices with other addresses."""
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
) -> RegisteredDevice | None:
    """Register the address for this user; None when another user has registered it."""
    row = await uow.fetch_row(_SAVE, new_id(), user_id, kind, address, public_key, auth_secret, now)
    return RegisteredDevice(*row) if row else None


async def remove_device(uow: UnitOfWork, device_id: UUID) -> bool:
    """Delete the caller's device; return whether it existed."""
    return bool(await uow.execute(_REMOVE, device_id))


async def delete_unregistered_device(uow: UnitOfWork, device_id: UUID, address: str) -> bool:
    """Delete an unregistered device, unless its address changed in the meantime."""
    return bool(await uow.execute(_REMOVE_ADDRESS, device_id, address))


async def delete_devices(uow: UnitOfWork, user_id: UUID) -> None:
    """Delete all devices of the user."""
    await uow.execute(_REMOVE_BEFORE, user_id, None)
