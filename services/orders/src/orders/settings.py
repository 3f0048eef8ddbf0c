"""What the orders service is told by its environment (architecture section 6)."""

from pydantic import Field

from common.media.storage import MediaSettings
from common.primitives.encryption import FurtherKey, PurposeKey


class Settings(MediaSettings):
    """The service's own variables. Lengths of windows in seconds."""

    pin_key: PurposeKey = Field(description="Encrypts delivery PINs at rest and keys their digests")
    pin_key_previous: FurtherKey = ""
    pin_delivery_key: PurposeKey = Field(
        description="Encrypts delivery PINs for notifications, which has the same value"
    )
    pin_delivery_key_previous: FurtherKey = ""
    sealing_key: FurtherKey = Field(
        default="",
        description="The key that all services shared before each purpose had its own; empty after its rotation",
    )
    sealing_key_previous: FurtherKey = ""
    delivery_pin_length: int = Field(default=6, ge=4, le=8)
    payment_window_seconds: int = Field(default=900, ge=1)
    vendor_idle_seconds: int = Field(default=259_200, ge=1)
    pin_window_seconds: int = Field(default=1_209_600, ge=1)
    return_window_seconds: int = Field(default=604_800, ge=1)
    delivery_pins_keep_days: int = Field(
        default=180, ge=1, description="Delivery PINs of orders whose money is settled"
    )

    # The public address of pictures; where they are kept is `MediaSettings`.
    media_url: str = ""
