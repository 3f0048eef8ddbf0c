"""The catalog of message templates: channels, parameters and secrets.

The texts are in `templates/`; a test compares them with this catalog.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from common.primitives.json_records import Json, JsonObject
from common.primitives.problems import InvalidParam, ValidationFailed
from common.primitives.public_numbers import NUMBER_PATTERN
from contracts.channels import Channel

Kind = Literal["text", "number", "kobo", "lines", "purpose"]

TEXT_MAX: Final = 500
LINES_MAX: Final = 100
# No code or PIN is longer.
SECRET_MAX: Final = 64


# Numbers for people. The ids beside them are for links and are in no text (contract section 1.7).
NUMBERS: Final = frozenset({"orderNumber", "payoutNumber", "ticketNumber"})
IDS: Final = frozenset({"orderId", "payoutId", "ticketId", "messageId"})
_LINE: Final = ("name", "quantity", "lineTotalMinor")
_ORDER_AND_AMOUNT: Final = frozenset({"orderId", "amountMinor"})
_EVERY_CHANNEL: Final = frozenset(get_args(Channel))


@dataclass(frozen=True, slots=True)
class Template:
    """One message. `secrets` are encrypted until sending; `in_feed` means that the app shows it.

    `optional` parameters may be missing even in requests of our own consumers. Numbers for people always may: an event
    of an earlier version has none.
    """

    parameters: Mapping[str, Kind]
    channels: frozenset[str] = _EVERY_CHANNEL
    secrets: frozenset[str] = field(default_factory=frozenset)
    in_feed: bool = True
    optional: frozenset[str] = field(default_factory=frozenset)

    def __post_init__(self) -> None:
        object.__setattr__(self, "optional", self.optional | (NUMBERS & self.parameters.keys()))

    @property
    def sensitive(self) -> bool:
        return bool(self.secrets)


CATALOG: Final[Mapping[str, Template]] = {
    "order_confirmation": Template(
        {
            "orderId": "text",
            "orderNumber": "number",
            "businessName": "text",
            "totalMinor": "kobo",
            "deliveryFeeMinor": "kobo",
            "items": "lines",
        }
    ),
    "vendor_dispatch_alert": Template(
        {"orderId": "text", "orderNumber": "number", "businessName": "text", "items": "lines"}
    ),
    # To a manager or a packer of the shop.
    "order_to_pack": Template(
        {"orderId": "text", "orderNumber": "number", "businessName": "text"}, channels=frozenset({"email", "push"})
    ),
    "order_line_cancelled": Template(
        {
            "orderId": "text",
            "orderNumber": "number",
            "businessName": "text",
            "productName": "text",
            "amountMinor": "kobo",
            "reason": "text",
        },
        channels=frozenset({"email", "push"}),
    ),
    "order_dispatched": Template({"orderId": "text", "orderNumber": "number", "businessName": "text"}),
    "parcel_coming": Template(
        {"orderId": "text", "orderNumber": "number", "businessName": "text"}, channels=frozenset({"push"})
    ),
    "order_arrived": Template(
        {
            "orderId": "text",
            "orderNumber": "number",
            "businessName": "text",
            "hubName": "text",
            "hubAddress": "text",
            "openingHours": "text",
        },
        channels=frozenset({"email", "push"}),
        optional=frozenset({"hubAddress", "openingHours"}),
    ),
    "order_delivered": Template({"orderId": "text", "orderNumber": "number", "businessName": "text"}),
    "return_requested": Template({"orderId": "text", "orderNumber": "number", "businessName": "text"}),
    "return_request_update": Template(
        {"orderId": "text", "orderNumber": "number", "outcome": "text", "refundMinor": "kobo"},
        optional=frozenset({"outcome", "refundMinor"}),
    ),
    # The PIN releases money: it is sent to the buyer's phone and never by mail.
    "delivery_pin": Template(
        {"orderId": "text", "orderNumber": "number"},
        channels=frozenset({"sms", "messaging", "push"}),
        secrets=frozenset({"pin"}),
    ),
    "delivery_pin_ready": Template({"orderId": "text", "orderNumber": "number"}),
    "order_cancelled": Template({"orderId": "text", "orderNumber": "number", "businessName": "text"}),
    "order_expired": Template({"orderId": "text", "orderNumber": "number", "businessName": "text"}),
    # A closed order with a quarantined payment: the text makes no claim about the payment.
    "order_closed_under_review": Template({"orderId": "text", "orderNumber": "number", "businessName": "text"}),
    # Money in another currency was never an order's, and is named without its amount.
    "payment_under_review": Template(
        {"orderId": "text", "orderNumber": "number", "amountMinor": "kobo"}, optional=frozenset({"amountMinor"})
    ),
    "payment_too_low": Template(
        {"orderId": "text", "orderNumber": "number", "amountMinor": "kobo", "expectedMinor": "kobo"}
    ),
    # To the staff of finance. Money in another currency is named without its amount.
    "charge_quarantined": Template(
        {
            "orderId": "text",
            "orderNumber": "number",
            "amountMinor": "kobo",
            "reference": "text",
            "quarantineReason": "text",
        },
        channels=frozenset({"email"}),
        in_feed=False,
        optional=_ORDER_AND_AMOUNT,
    ),
    "payment_failed": Template(
        {"orderId": "text", "orderNumber": "number", "amountMinor": "kobo", "failureReason": "text"}
    ),
    "order_completed": Template(
        {"orderId": "text", "orderNumber": "number", "businessName": "text", "netMinor": "kobo"}
    ),
    "order_refunded": Template(
        {
            "orderId": "text",
            "orderNumber": "number",
            "businessName": "text",
            "amountMinor": "kobo",
            "fromVendorMinor": "kobo",
        }
    ),
    "refund_in_balance": Template({"orderId": "text", "orderNumber": "number", "amountMinor": "kobo"}),
    "refund_on_its_way": Template({"orderId": "text", "orderNumber": "number", "amountMinor": "kobo"}),
    # Money in another currency was never an order's, and is named without its amount.
    "refund_settled": Template(
        {"orderId": "text", "orderNumber": "number", "amountMinor": "kobo"}, optional=_ORDER_AND_AMOUNT
    ),
    "refund_failed": Template(
        {"orderId": "text", "orderNumber": "number", "amountMinor": "kobo"}, optional=_ORDER_AND_AMOUNT
    ),
    "dispute_opened": Template({"orderId": "text", "orderNumber": "number"}),
    "dispute_resolved": Template(
        {"orderId": "text", "orderNumber": "number", "outcome": "text", "refundMinor": "kobo", "releaseMinor": "kobo"}
    ),
    "chargeback_opened": Template(
        {"orderId": "text", "orderNumber": "number", "businessName": "text", "amountMinor": "kobo"},
        optional=frozenset({"amountMinor"}),
    ),
    "chargeback_decided": Template(
        {"orderId": "text", "orderNumber": "number", "businessName": "text", "outcome": "text", "amountMinor": "kobo"}
    ),
    "withdrawal_requested": Template({"amountMinor": "kobo", "last4": "text"}),
    "withdrawal_paid": Template({"amountMinor": "kobo", "last4": "text"}),
    "withdrawal_returned": Template({"amountMinor": "kobo", "last4": "text"}),
    "payout_failed": Template(
        {"payoutId": "text", "payoutNumber": "number", "businessName": "text", "amountMinor": "kobo"}
    ),
    "payout_reversed": Template(
        {"payoutId": "text", "payoutNumber": "number", "businessName": "text", "amountMinor": "kobo"}
    ),
    "payout_processed": Template(
        {"payoutId": "text", "payoutNumber": "number", "businessName": "text", "amountMinor": "kobo"}
    ),
    "payout_delayed": Template(
        {"payoutId": "text", "payoutNumber": "number", "businessName": "text", "amountMinor": "kobo", "cause": "text"}
    ),
    # `standing` is "unverified" for an account that receives no payout.
    "bank_details_changed": Template(
        {"businessName": "text", "last4": "text", "standing": "text"}, optional=frozenset({"standing"})
    ),
    "bank_details_quarantined": Template(
        {"businessName": "text", "last4": "text", "reason": "text"}, optional=frozenset({"last4"})
    ),
    "vendor_application_decided": Template({"outcome": "text", "reason": "text"}, optional=frozenset({"reason"})),
    "vendor_suspended": Template({"businessName": "text", "reason": "text"}),
    "vendor_reinstated": Template({"businessName": "text"}),
    "product_delisted": Template(
        {"productId": "text", "productName": "text", "businessName": "text", "reason": "text"}
    ),
    "product_relisted": Template(
        {"productId": "text", "productName": "text", "businessName": "text", "reason": "text"}
    ),
    # Customers read replies in the ticket. `messageId` finds the text for the messaging app.
    "ticket_reply": Template(
        {"ticketId": "text", "ticketNumber": "number", "messageId": "text"}, optional=frozenset({"messageId"})
    ),
    # About a product that the user saved. Push and feed only.
    "back_in_stock": Template(
        {"productId": "text", "productName": "text", "businessName": "text", "priceMinor": "kobo"},
        channels=frozenset({"push"}),
    ),
    "price_drop": Template(
        {"productId": "text", "productName": "text", "businessName": "text", "priceMinor": "kobo"},
        channels=frozenset({"push"}),
    ),
    # The text and the names stay in the conversation.
    "new_message": Template({"conversationId": "text"}, channels=frozenset({"push"})),
    # `matters` lists open obligations. `account_erased` is sent to an address that is then deleted.
    "erasure_refused": Template({"matters": "text"}),
    "account_erased": Template({}, channels=frozenset({"email"}), in_feed=False),
    # An intruder can read the feed, but not the owner's mailbox and devices.
    "credentials_changed": Template({"change": "text"}, in_feed=False),
    "api_key_expiring": Template({"keyName": "text", "expiresOn": "text"}),
    "shop_invitation": Template({"businessName": "text"}),
    # Proof of an address, and repeated sign-up (contract section 10.1). Neither contains the name: any user may have
    # chosen it.
    "confirm_email": Template({}, channels=frozenset({"email"}), secrets=frozenset({"code"}), in_feed=False),
    "already_registered": Template({}, channels=frozenset({"email"}), in_feed=False),
    "one_time_code": Template({"purpose": "purpose"}, secrets=frozenset({"code"}), in_feed=False),
}


def template_of(name: str, channel: str) -> Template:
    """Return the template of that name. Raises ValidationFailed for an unknown name or an unsupported channel."""
    template = CATALOG.get(name)
    if template is None:
        raise ValidationFailed.of("template", f"must be one of: {', '.join(sorted(CATALOG))}")
    if channel not in template.channels:
        raise ValidationFailed.of("channel", f"{name} goes by: {', '.join(sorted(template.channels))}")
    return template


def read_parameters(template: Template, values: Mapping[str, Json]) -> JsonObject:
    """Return the parameters of a template from a caller's `data` (contract section 12).

    Unknown fields are dropped; null counts as missing. Raises ValidationFailed with every missing or malformed
    parameter.
    """
    kinds = _kinds(template)
    given = {name: values[name] for name in kinds if values.get(name) is not None}
    _raise_if_any(_missing(template, kinds, given) + _misfits(kinds, given))
    return {name: _normalized(kinds[name], value) for name, value in given.items()}


def check_complete(template: Template, values: Mapping[str, Json]) -> None:
    """Check the complete parameters of our own consumers.

    Raises ValidationFailed with every missing, unknown or malformed parameter.
    """
    kinds = {name: "whole lines" if kind == "lines" else kind for name, kind in _kinds(template).items()}
    unknown = [
        InvalidParam(f"data.{name}", "is not a parameter of this template") for name in values if name not in kinds
    ]
    given = {name: values[name] for name in kinds if name in values}
    _raise_if_any(unknown + _missing(template, kinds, given) + _misfits(kinds, given))


def parameters_of(template: Template) -> list[str]:
    """Return the parameter names of a template; optional ones end with a question mark."""
    return [f"{name}?" if name in template.optional else name for name in _kinds(template)]


def _kinds(template: Template) -> dict[str, str]:
    return {**template.parameters, **dict.fromkeys(template.secrets, "secret")}


def _missing(template: Template, kinds: Mapping[str, str], given: Mapping[str, Json]) -> list[InvalidParam]:
    return [
        InvalidParam(f"data.{name}", f"is required by this template and {_REQUIREMENTS[kind]}")
        for name, kind in kinds.items()
        if name not in given and name not in template.optional
    ]


def _misfits(kinds: Mapping[str, str], values: Mapping[str, Json]) -> list[InvalidParam]:
    return [
        InvalidParam(f"data.{name}", _REQUIREMENTS[kinds[name]])
        for name, value in values.items()
        if not _fits(kinds[name], value)
    ]


def _raise_if_any(faults: list[InvalidParam]) -> None:
    if faults:
        named = ", ".join(fault.name for fault in faults)
        raise ValidationFailed(f"Not valid: {named}.", invalid_params=faults)


def _normalized(kind: str, value: Json) -> Json:
    """Keep only the fields of a line that messages use."""
    if kind == "lines" and isinstance(value, list):
        return [{name: line.get(name) for name in _LINE} for line in value if isinstance(line, dict)]
    return value


_REQUIREMENTS: Final[Mapping[str, str]] = {
    "text": f"must be a text of 1 to {TEXT_MAX} characters",
    "number": "must be a number for people, such as CM-R80T-M2NG",
    "kobo": "must be an integer in kobo, not below 0",
    "lines": f"must be a list of at most {LINES_MAX} {{name, quantity?, lineTotalMinor?}}",
    "whole lines": "must be a list of {name, quantity, lineTotalMinor}",
    "purpose": "must be sign_in or password_reset",
    "secret": f"must be a text of 1 to {SECRET_MAX} characters",
}


def _fits(kind: str, value: Json) -> bool:
    if kind == "kobo":
        return _is_count(value)
    if kind == "number":
        return isinstance(value, str) and re.fullmatch(NUMBER_PATTERN, value) is not None
    if kind == "whole lines":
        return _fits("lines", value) and isinstance(value, list) and all(map(_is_whole_line, value))
    if kind == "lines":
        return isinstance(value, list) and len(value) <= LINES_MAX and all(map(_is_line, value))
    if kind == "purpose":
        return value in ("sign_in", "password_reset")
    longest = SECRET_MAX if kind == "secret" else TEXT_MAX
    return isinstance(value, str) and 0 < len(value) <= longest


def _is_whole_line(value: Json) -> bool:
    return isinstance(value, dict) and value.keys() == set(_LINE) and None not in value.values()


def _is_line(value: Json) -> bool:
    return (
        isinstance(value, dict)
        and _fits("text", value.get("name"))
        and all(value.get(name) is None or _is_count(value[name]) for name in ("quantity", "lineTotalMinor"))
    )


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def names_to_encrypt(template: Template, *, sensitive: bool) -> frozenset[str]:
    """Return the parameters that are stored encrypted: the secrets, or every text of a message marked sensitive."""
    if template.sensitive or not sensitive:
        return template.secrets
    return frozenset(name for name, kind in template.parameters.items() if kind == "text")
