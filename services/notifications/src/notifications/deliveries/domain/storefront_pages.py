"""The page of the storefront that a mail to a buyer leads to. A message that vendors or staff get too has none."""

from collections.abc import Mapping
from typing import Final

from common.primitives.ids import parse_uuid

_ORDER: Final = "/orders/{}"
PAGE_BY_TEMPLATE: Final[Mapping[str, str]] = {
    "order_confirmation": _ORDER,
    "order_dispatched": _ORDER,
    "order_delivered": _ORDER,
    "delivery_pin_ready": _ORDER,
    "return_request_update": _ORDER,
    "payment_failed": _ORDER,
    "payment_too_low": _ORDER,
    "refund_on_its_way": _ORDER,
    "refund_settled": _ORDER,
    "refund_failed": _ORDER,
    "refund_in_balance": "/balance",
    "withdrawal_requested": "/balance",
    "withdrawal_paid": "/balance",
    "withdrawal_returned": "/balance",
}


def storefront_page(template: str, values: Mapping[str, object]) -> str | None:
    """Return the path of the page; None without one, and for an id that is none: callers may send any text."""
    path, order_id = PAGE_BY_TEMPLATE.get(template), values.get("orderId")
    if path != _ORDER:
        return path
    known = parse_uuid(order_id) if isinstance(order_id, str) else None
    return None if known is None else path.format(known)
