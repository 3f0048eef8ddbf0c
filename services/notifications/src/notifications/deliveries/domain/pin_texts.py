"""The text message with the PINs of the orders that one payment paid (contract section 6.4, decision 163).

The text waits `PIN_TEXT_WAIT` for the PINs that are missing; it is sent as soon as it has all of them. A PIN that
arrives after its claim, or for another number, starts a text of its own.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from common.primitives.json_records import Json, JsonObject
from notifications.deliveries.domain.deliveries import EncryptedValue, notification_id_of

# The PINs of a payment are published within milliseconds. A buyer does not notice three seconds.
PIN_TEXT_WAIT: Final = timedelta(seconds=3)
# Nine orders with PINs of eight digits, the longest, fill 448 of the 459 characters of three segments.
PIN_TEXT_ORDERS_MAX: Final = 9


@dataclass(frozen=True, slots=True)
class SharedPin:
    """The first PIN of an order that a payment paid with others: `paid_orders` of them under `payment_reference`."""

    order_id: UUID
    order_number: str
    buyer_id: UUID
    secret: EncryptedValue
    payment_reference: str
    paid_orders: int

    @property
    def entry(self) -> JsonObject:
        """The order in the payload of the text."""
        return {"orderId": str(self.order_id), "orderNumber": self.order_number}

    def text_id(self, number: int) -> UUID:
        """Return the notification of the payment's text of this number, counted from 1."""
        return notification_id_of("delivery_pins", self.payment_reference, self.buyer_id, number)


@dataclass(frozen=True, slots=True)
class PinText:
    """A text of a payment. `is_waiting`: no worker has claimed it yet."""

    notification_id: UUID
    delivery_id: UUID
    recipient: str
    order_ids: Collection[str]
    is_waiting: bool

    def admits(self, recipient: str) -> bool:
        """Return whether another order fits into the text to this number."""
        return self.is_waiting and self.recipient == recipient and len(self.order_ids) < PIN_TEXT_ORDERS_MAX


def secret_name(order_id: UUID | str) -> str:
    """Return the name of an order's PIN among the secrets of a text for several orders."""
    return f"pin:{order_id}"


def orders_in(payload: Mapping[str, Json]) -> list[JsonObject]:
    """Return the orders of a text for several; none of a text for one."""
    orders = payload.get("orders")
    return [order for order in orders if isinstance(order, dict)] if isinstance(orders, list) else []


def pin_values(payload: Mapping[str, Json], secrets: Mapping[str, str]) -> JsonObject:
    """Return the values of a message. Of a text for several orders, the first one has the names of a text for one, and
    `others` holds the rest; an order whose PIN was deleted is in neither.
    """
    if "orders" not in payload:
        return {**payload, **secrets}
    shown: list[JsonObject] = [
        {**order, "pin": secrets[name]}
        for order in orders_in(payload)
        if (name := secret_name(str(order["orderId"]))) in secrets
    ]
    return {**payload, **shown[0], "others": [*shown[1:]]}
