"""The settings of the orders service (docs/reference/configuration.md).

A wrong `PIN_KEY` stops the start (runbook rotate-sealing-keys, `python -m orders re-encrypt [--count]`). The key of
an S3 bucket needs s3:GetObject, s3:PutObject, s3:DeleteObject and s3:ListBucket. The return window is frozen in each
order as `returnDueAt`.
"""

from pydantic import Field

from common.media.storage import MediaSettings
from common.primitives.encryption import FurtherKey, PurposeKey


class Settings(MediaSettings):
    """Keys, time limits and retention of orders."""

    pin_key: PurposeKey = Field(
        description=(
            "Key that encrypts delivery PINs and contacts at rest and keys the PINs' digests; at least 16 characters"
        ),
        examples=["<a random text for PINs at rest>"],
    )
    pin_key_previous: FurtherKey = Field(
        default="",
        description="PIN_KEY before its rotation; empty otherwise",
        examples=["<the key before the rotation>"],
    )
    pin_delivery_key: PurposeKey = Field(
        description=(
            "Key that encrypts delivery PINs for notifications, which has the same value; at least 16 characters"
        ),
        examples=["<a random text for PINs in events>"],
    )
    pin_delivery_key_previous: FurtherKey = Field(
        default="",
        description="PIN_DELIVERY_KEY before its rotation; empty otherwise",
        examples=["<the key before the rotation>"],
    )
    sealing_key: FurtherKey = Field(
        default="",
        description="Key that all services shared before each purpose had its own; empty after its rotation",
        examples=["<the key of the previous release>"],
    )
    sealing_key_previous: FurtherKey = Field(
        default="",
        description="SEALING_KEY before its rotation; empty otherwise",
        examples=["<the key before the rotation>"],
    )
    delivery_pin_length: int = Field(default=6, ge=4, le=8, description="Digits of a delivery PIN", examples=[6])
    payment_window_seconds: int = Field(
        default=900, ge=1, description="Seconds in which an order must be paid, else it expires", examples=[900]
    )
    unpaid_orders_max: int = Field(
        default=10, ge=1, description="Most unpaid orders of one buyer; another checkout is 409", examples=[10]
    )
    unpaid_share_max_percent: int = Field(
        default=50,
        ge=1,
        le=100,
        description=(
            "Most of a product's stock, above 5 pieces, that the unpaid orders of one buyer reserve, in percent"
        ),
        examples=[50],
    )
    balance_refunds_enabled: bool = Field(
        default=True,
        description="Whether a buyer may choose the balance as the destination of a refund; off: `refundTo` is 409",
        examples=[True],
    )
    vendor_idle_seconds: int = Field(
        default=259_200,
        ge=1,
        description="Seconds in which a paid order must be dispatched, else it is refunded",
        examples=[259_200],
    )
    pin_window_seconds: int = Field(
        default=1_209_600,
        ge=1,
        description="Seconds in which a dispatched order must be confirmed by its PIN, else it is disputed",
        examples=[1_209_600],
    )
    return_window_seconds: int = Field(
        default=604_800,
        ge=1,
        description="Seconds after delivery in which a return may be requested; frozen in each order as returnDueAt",
        examples=[604_800],
    )
    delivery_pins_keep_days: int = Field(
        default=180, ge=1, description="Days to keep delivery PINs of settled orders", examples=[180]
    )
    media_url: str = Field(
        default="",
        description="Public address of product images, such as a CDN; empty: BASE_URL/media",
        examples=["https://cdn.example/media"],
    )
