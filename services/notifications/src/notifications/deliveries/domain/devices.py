"""Devices for push messages."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple
from uuid import UUID

from notifications.clients.outbound_addresses import origin_of

DeviceKind = Literal["web", "android", "ios"]


@dataclass(frozen=True, slots=True)
class Device:
    """The target of a push. `address` is a native token or the endpoint of a browser subscription with its two keys."""

    device_id: UUID
    kind: str
    address: str
    public_key: str | None = None
    auth_secret: str | None = None

    @property
    def origin(self) -> str:
        """The push service of a browser subscription."""
        return origin_of(self.address)


class RegisteredDevice(NamedTuple):
    """A device as its owner sees it, without its address."""

    id: UUID
    kind: str
    created_at: datetime
    registered_at: datetime


def circuit_name(provider: str, device: Device | None) -> str:
    """Failures count by provider; those of pushes by the platform of the app or the push service of the browser."""
    if device is None:
        return provider
    return f"{provider} {device.origin if device.kind == 'web' else device.kind}"
