"""Register a device for push."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.web.outbound_addresses import OutboundRules
from notifications import queries, store
from notifications.domain.errors import TooManyDevices


@dataclass(frozen=True, slots=True)
class PushSettings:
    """What registering needs to know: the key that browsers subscribe with, where a push may go, and the limit."""

    vapid_key: str | None
    rules: OutboundRules
    devices_max: int


async def register_device(
    uow: UnitOfWork,
    push_settings: PushSettings,
    user_id: UUID,
    kind: str,
    address: str,
    keys: tuple[str, str] | None,
    now: datetime,
) -> dict[str, Any]:
    """The device of that address, which is this user's from now on; the same address again is the same device.

    Raises TooManyDevices.
    """
    await store.lock_devices(uow, user_id)
    if await store.count_other_devices(uow, user_id, address) >= push_settings.devices_max:
        raise TooManyDevices(push_settings.devices_max)
    public_key, auth_secret = keys or (None, None)
    row = await store.save_device(uow, user_id, kind, address, public_key, auth_secret, now)
    return queries.device_shape(row)
