"""The devices of a user."""

from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from notifications.domain.deliveries import Device

_LIST: Final = """
SELECT id, kind, created_at, registered_at FROM user_devices WHERE user_id = $1 ORDER BY created_at DESC, id DESC
"""
_IDS: Final = "SELECT id FROM user_devices WHERE user_id = $1 AND kind = ANY ($2) ORDER BY created_at, id"
_DEVICE: Final = "SELECT id, kind, address, public_key, auth_secret FROM user_devices WHERE id = $1 AND user_id = $2"


async def list_devices(uow: UnitOfWork, user_id: UUID) -> list[dict[str, Any]]:
    """The user's devices, newest first; never their tokens."""
    return [device_shape(row) for row in await uow.fetch(_LIST, user_id)]


async def list_device_ids(uow: UnitOfWork, user_id: UUID, kinds: list[str]) -> list[str]:
    """The recipients of a push to a user: the ids of the devices of these kinds."""
    return [str(row["id"]) for row in await uow.fetch(_IDS, user_id, kinds)]


async def find_device(uow: UnitOfWork, device_id: UUID, user_id: UUID) -> Device | None:
    """Where a push goes; None when the device is gone, or somebody else's by now."""
    row = await uow.fetch_row(_DEVICE, device_id, user_id)
    if row is None:
        return None
    return Device(row["id"], row["kind"], row["address"], row["public_key"], row["auth_secret"])


def device_shape(row: Any) -> dict[str, Any]:
    """A device as its owner sees it."""
    return {
        "id": str(row["id"]),
        "kind": row["kind"],
        "createdAt": iso(row["created_at"]),
        "registeredAt": iso(row["registered_at"]),
    }
