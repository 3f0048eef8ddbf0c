"""Register a device for push."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.clients.outbound_addresses import OutboundRules
from notifications.deliveries.domain.devices import RegisteredDevice
from notifications.deliveries.domain.errors import DeviceOfAnotherAccount, TooManyDevices
from notifications.deliveries.store.devices import count_other_devices, lock_devices, save_device


@dataclass(frozen=True, slots=True)
class PushSettings:
    """The public key of browser subscriptions, the rules for push addresses, and the limit of devices."""

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
) -> RegisteredDevice:
    """Register the address for the user; a known address is the same device.

    An address changes its owner only when the owner removed it or the provider refused it (contract section 12.2): a
    copied token would divert the owner's messages. Raises TooManyDevices and DeviceOfAnotherAccount.
    """
    await lock_devices(uow, user_id)
    if await count_other_devices(uow, user_id, address) >= push_settings.devices_max:
        raise TooManyDevices(push_settings.devices_max)
    public_key, auth_secret = keys or (None, None)
    device = await save_device(uow, user_id, kind, address, public_key, auth_secret, now)
    if device is None:
        raise DeviceOfAnotherAccount
    return device
