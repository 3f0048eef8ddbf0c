"""Reads of a user's devices."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries import responses
from notifications.deliveries.domain.devices import Device, RegisteredDevice

_LIST: Final = """
SELECT id, kind, created_at, registered_at FROM user_devices WHERE user_id = $1 ORDER BY created_at DESC, id DESC
"""
_IDS: Final = "SELECT id FROM user_devices WHERE user_id = $1 AND kind = ANY ($2) ORDER BY created_at, id"
_DEVICES: Final = """
SELECT d.id, d.kind, d.address, d.public_key, d.auth_secret
FROM unnest($1::uuid[], $2::uuid[]) AS w (id, user_id) JOIN user_devices d ON d.id = w.id AND d.user_id = w.user_id
"""
_DEVICE: Final = "SELECT id, kind, address, public_key, auth_secret FROM user_devices WHERE id = $1 AND user_id = $2"


async def list_devices(uow: UnitOfWork, user_id: UUID) -> list[RegisteredDevice]:
    """Return the user's devices, newest first."""
    return [RegisteredDevice(*row) for row in await uow.fetch(_LIST, user_id)]


async def list_device_ids(uow: UnitOfWork, user_id: UUID, kinds: list[str]) -> list[str]:
    """Return the recipients of a push: the ids of the user's devices of these kinds."""
    return [str(device_id) for (device_id,) in await uow.fetch(_IDS, user_id, kinds)]


async def find_device(uow: UnitOfWork, device_id: UUID, user_id: UUID) -> Device | None:
    """Return the push target; None when the device was removed or registered by another user."""
    row = await uow.fetch_row(_DEVICE, device_id, user_id)
    return None if row is None else Device(*row)


async def devices_of(uow: UnitOfWork, owners: Mapping[UUID, UUID]) -> dict[str, Device]:
    """Return the push targets by their id. `owners` holds the user of each device; those of other users are missing."""
    rows = await uow.fetch(_DEVICES, list(owners), list(owners.values()))
    return {str(row["id"]): Device(*row) for row in rows}


def device_response(device: RegisteredDevice) -> responses.Device:
    return responses.Device.from_record(device)
