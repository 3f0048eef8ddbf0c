"""Remove a device of the caller."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from notifications.deliveries.store import devices


async def remove_device(uow: UnitOfWork, device_id: UUID) -> None:
    """Delete the device. Raises NotFound for a foreign or unknown one."""
    if not await devices.remove_device(uow, device_id):
        raise NotFound
