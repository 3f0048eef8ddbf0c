"""Example values of every message for `python -m notifications preview` and the tests. No user has them."""

from collections.abc import Mapping
from typing import Final

from common.primitives.json_records import Json, JsonObject
from notifications.deliveries.domain.templates import CATALOG

_SHOP: Final = "Ada's Kitchen"
_ORDER: Final = "0192f3c4-5a10-7c31-9f00-2c7d3f2a91bc"
_PAYOUT: Final = "0192f3c9-0b52-7d80-8a11-90ce51d7e604"
_ITEMS: Final[list[Json]] = [
    {"name": "Jollof rice with chicken", "quantity": 2, "lineTotalMinor": 500_000},
    {"name": "Zobo, 50 cl", "quantity": 1, "lineTotalMinor": 70_000},
]
# By parameter name; templates with other values are listed below.
_DEFAULT_VALUES: Final[Mapping[str, Json]] = {
    "orderId": _ORDER,
    "orderNumber": "CM-R80T-M2NG",
    "businessName": _SHOP,
    "hubName": "Akoka Main Gate",
    "hubAddress": "Main Gate, Akoka",
    "openingHours": "Mon-Fri 08:00-18:00, Sat 09:00-13:00",
    "items": _ITEMS,
    "totalMinor": 600_000,
    "deliveryFeeMinor": 30_000,
    "amountMinor": 600_000,
    "expectedMinor": 630_000,
    "netMinor": 541_500,
    "fromVendorMinor": 0,
    "refundMinor": 200_000,
    "releaseMinor": 400_000,
    "payoutId": _PAYOUT,
    "payoutNumber": "PO-7K3D-9QXW",
    "cause": "name_mismatch",
    "last4": "6785",
    "standing": "verified",
    "reason": "The name of the account is not the shop's legal name",
    "reference": "CH-2K7Q-9D4M",
    "quarantineReason": "underpaid",
    "failureReason": "Insufficient Funds",
    "outcome": "approved",
    "purpose": "sign_in",
    "change": "password_changed",
    "keyName": "Stock system",
    "expiresOn": "2026-12-13",
    "pin": "000000",
    "code": "000000",
    "conversationId": "0192f3cd-2a31-7b75-9e4c-6f7081920314",
    "productId": "0192f3cc-1f20-7a64-8d3b-5e6f70819203",
    "productName": "Jollof rice with chicken",
    "priceMinor": 250_000,
    "ticketId": "0192f3cb-77aa-7b02-b3c4-1d2e3f405162",
    "matters": "an order that is not finished; money in your wallet",
    "ticketNumber": "CT-4H2V-0BZE",
    "messageId": "0192f3cb-8c01-7e55-9d10-6a7b8c9d0e1f",
}
_TEMPLATE_VALUES: Final[Mapping[str, Mapping[str, Json]]] = {
    "dispute_resolved": {"outcome": "split"},
    "chargeback_decided": {"outcome": "lost", "amountMinor": 541_500},
    "vendor_application_decided": {"outcome": "rejected", "reason": "Tell us more about what you sell"},
    "vendor_suspended": {"reason": "Several orders were not handed over"},
    "order_line_cancelled": {"reason": "Sold out at the counter"},
    "product_delisted": {"reason": "The photo shows another product"},
    "product_relisted": {"reason": "The photo is corrected"},
    "order_refunded": {"fromVendorMinor": 541_500},
}


def example_of(name: str) -> JsonObject:
    """Return a complete set of values, secrets included."""
    template = CATALOG[name]
    names = (*template.parameters, *sorted(template.secrets))
    return {parameter: _TEMPLATE_VALUES.get(name, {}).get(parameter, _DEFAULT_VALUES[parameter]) for parameter in names}
