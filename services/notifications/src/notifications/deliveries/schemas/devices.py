"""Request models of devices and of the public key for browsers (contract section 12)."""

import base64
import binascii
from typing import Annotated, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from common.web.schemas import RequestBody
from notifications.clients.outbound_addresses import ADDRESS_MAX
from notifications.deliveries.domain.devices import DeviceKind

# An uncompressed P-256 point, and the secret of RFC 8291.
_POINT_BYTES = 65
_SECRET_BYTES = 16


def _validate_length(text: str, length: int) -> str:
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) != length:
        raise ValueError(f"must be {length} bytes in base64url")
    return text.rstrip("=")


def _validate_point(text: str) -> str:
    return _validate_length(text, _POINT_BYTES)


def _validate_secret(text: str) -> str:
    return _validate_length(text, _SECRET_BYTES)


class PushSubscriptionKeys(RequestBody):
    """The keys of a browser subscription, base64url."""

    p256dh: Annotated[str, Field(max_length=120, alias="p256dh"), AfterValidator(_validate_point)]
    auth: Annotated[str, Field(max_length=60), AfterValidator(_validate_secret)]


class PushSubscription(RequestBody):
    """A browser's `PushSubscription.toJSON()`. `expirationTime` is accepted and ignored."""

    endpoint: Annotated[str, Field(min_length=1, max_length=ADDRESS_MAX, pattern=r"^[!-~]+$")]
    keys: PushSubscriptionKeys
    expiration_time: Annotated[float, Field(strict=True, ge=0)] | None = None


class RegisterDeviceRequest(RequestBody):
    """A browser has a `subscription`, an app has a `token`; never both."""

    kind: DeviceKind
    token: Annotated[str, Field(min_length=1, max_length=ADDRESS_MAX, pattern=r"^[!-~]+$")] | None = None
    subscription: PushSubscription | None = None

    @field_validator("token", "subscription", mode="before")
    @classmethod
    def reject_null(cls, value: object) -> object:
        if value is None:
            raise ValueError("must not be null")
        return value

    @model_validator(mode="after")
    def check_kind(self) -> Self:
        if self.kind == "web" and (self.subscription is None or self.token is not None):
            raise ValueError("web needs subscription, and no token")
        if self.kind != "web" and (self.token is None or self.subscription is not None):
            raise ValueError(f"{self.kind} needs token, and no subscription")
        return self
