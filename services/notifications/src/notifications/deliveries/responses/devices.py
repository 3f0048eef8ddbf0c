"""Response models of devices and of the public key for browsers (contract section 12)."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp
from notifications.deliveries.domain.devices import DeviceKind


class Device(ResponseModel):
    """A device of the caller, without its token."""

    id: UUID
    kind: DeviceKind
    created_at: Timestamp
    registered_at: Annotated[Timestamp, Meta(description="The time of the last registration.")]


class VapidKey(ResponseModel):
    """`applicationServerKey` of `PushManager.subscribe`, base64url."""

    public_key: Annotated[str, Meta(description="`applicationServerKey` of `PushManager.subscribe`, base64url.")]
