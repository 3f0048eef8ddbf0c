"""The page that a mail leads to: of the storefront for buyers, of the console for people of a shop and for staff."""

from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Final, Literal
from urllib.parse import quote

from common.primitives.ids import parse_uuid

# Marks a message to the people of a shop. Buyer and shop get the same template about a dispute.
TO_SHOP: Final = "toShop"

_ORDER: Final = "/orders/{orderId}"
STOREFRONT_PAGES: Final[Mapping[str, str]] = {
    "order_confirmation": _ORDER,
    "order_line_cancelled": _ORDER,
    "order_dispatched": _ORDER,
    "order_arrived": _ORDER,
    "order_delivered": _ORDER,
    "order_cancelled": _ORDER,
    "order_expired": _ORDER,
    "order_closed_under_review": _ORDER,
    "delivery_pin_ready": _ORDER,
    "return_request_update": _ORDER,
    "payment_failed": _ORDER,
    "payment_too_low": _ORDER,
    "payment_under_review": _ORDER,
    "refund_on_its_way": _ORDER,
    "refund_settled": _ORDER,
    "refund_failed": _ORDER,
    "dispute_opened": _ORDER,
    "dispute_resolved": _ORDER,
    "refund_in_balance": "/balance",
    "withdrawal_requested": "/balance",
    "withdrawal_paid": "/balance",
    "withdrawal_returned": "/balance",
    "already_registered": "/sign-in",
    "credentials_changed": "/forgotten-password",
    "erasure_refused": "/account",
    "account_erased": "/sign-up",
    "ticket_reply": "/tickets/{ticketId}",
}
CONSOLE_PAGES: Final[Mapping[str, str]] = {
    "vendor_dispatch_alert": _ORDER,
    # A packer has no page of `vendor_dispatch_alert`; the first page shows each role its orders.
    "order_to_pack": "/",
    "order_completed": _ORDER,
    "order_refunded": _ORDER,
    "return_requested": _ORDER,
    "dispute_opened": _ORDER,
    "dispute_resolved": _ORDER,
    "chargeback_opened": _ORDER,
    "chargeback_decided": _ORDER,
    "payout_processed": "/wallet/payouts/{payoutId}",
    "payout_delayed": "/wallet/payouts/{payoutId}",
    "payout_failed": "/bank-details",
    "payout_reversed": "/bank-details",
    "bank_details_changed": "/bank-details",
    "bank_details_quarantined": "/bank-details",
    "product_delisted": "/products/{productId}",
    "product_relisted": "/products/{productId}",
    # Open orders of a suspended shop are finished.
    "vendor_suspended": "/",
    "vendor_reinstated": "/",
    "shop_invitation": "/shop-invitations",
    "api_key_expiring": "/api-keys",
    "charge_quarantined": "/quarantined-charges",
}
# The code is in the fragment, which a browser sends to no server.
_RESET_PAGE: Final = "/forgotten-password#"
_TEXTS: Final = {"storefront": "Open it in the shop", "console": "Open it in the console"}
_TEXTS_BY_TEMPLATE: Final = {
    "credentials_changed": "Set a new password",
    "already_registered": "Sign in",
    "account_erased": "Sign up again",
    "ticket_reply": "Read the answer",
    "payout_failed": "Check the bank details",
    "payout_reversed": "Check the bank details",
}


@dataclass(frozen=True, slots=True)
class LinkedPage:
    """A path of one of the two sites, and the text of the link to it."""

    site: Literal["storefront", "console"]
    path: str
    text: str


def linked_page(template: str, values: Mapping[str, object]) -> LinkedPage | None:
    """Return the page of a mail; None without one, and for an id that is none: callers may send any text."""
    if template == "one_time_code" and values.get("purpose") == "password_reset":
        return LinkedPage("storefront", _RESET_PAGE + quote(str(values["code"]), safe=""), "Choose a new password")
    if template == "vendor_application_decided":
        is_approved = values.get("outcome") == "approved"
        return (
            LinkedPage("console", "/", "Open your shop")
            if is_approved
            else LinkedPage("storefront", "/tickets", "Ask our staff")
        )
    in_storefront = template in STOREFRONT_PAGES and not values.get(TO_SHOP)
    site: Literal["storefront", "console"] = "storefront" if in_storefront else "console"
    path = (STOREFRONT_PAGES if in_storefront else CONSOLE_PAGES).get(template)
    filled = None if path is None else _filled(path, values)
    return None if filled is None else LinkedPage(site, filled, _TEXTS_BY_TEMPLATE.get(template, _TEXTS[site]))


def _filled(path: str, values: Mapping[str, object]) -> str | None:
    names = [name for _, name, _, _ in Formatter().parse(path) if name]
    ids = {name: parse_uuid(value) if isinstance(value := values.get(name), str) else None for name in names}
    return None if None in ids.values() else path.format(**ids)
