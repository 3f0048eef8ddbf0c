"""The messaging app's approved templates: what is registered with the provider under the names of our messages.

`python -m notifications message-templates` exports, registers and compares them. A changed text needs a new approval.

`domain/approved_templates.py` holds what is registered with the messaging app: name, category, text and the order of
the placeholders. `one_time_code` and `delivery_pin` have the category AUTHENTICATION: the provider writes their text,
and a button copies the code. The others are UTILITY.

- `export [--out FILE] [--language CODE]`: writes the payload that registers each template, with example values; needs
  no settings
- `push`: registers missing templates and replaces changed ones; a repetition changes nothing. Exit code 1: the
  provider rejected one, with its reason
- `status`: compares: `approved`, `pending`, `rejected` with the reviewer's reason, `differs`, `unavailable`,
  `missing`. Exit code 4: not all are approved

`campusctl messaging templates` runs them. A template under review cannot be changed, and the category of an approved
one is fixed. `testkit/providers/whatsapp` has the API's facts; the tests compare calls, responses and webhooks with
them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NotRequired, Required, TypedDict

Category = Literal["UTILITY", "AUTHENTICATION"]

# The provider rejects an empty parameter.
NOT_GIVEN: Final = "-"
# The provider's limits: of a text with parameters, of a body, and of an authentication template's code.
PARAMETER_MAX: Final = 512
BODY_MAX: Final = 1024
CODE_MAX: Final = 15
COPY_BUTTON: Final = "Copy code"
_PLACEHOLDER: Final = re.compile(r"\{\{([0-9]+)\}\}")


@dataclass(frozen=True, slots=True)
class ApprovedTemplate:
    """A template: its parameters in the order of the placeholders {{1}}, {{2}}, ..., and its text.

    The provider writes the text of an authentication template; its only parameter is the code, which a button copies.
    `warns_about_sharing` adds the provider's warning not to share the code; `lifetime_seconds` is how long the provider
    tries to deliver the message.
    """

    parameters: tuple[str, ...]
    body: str = ""
    category: Category = "UTILITY"
    warns_about_sharing: bool = False
    lifetime_seconds: int | None = None


APPROVED_TEMPLATES: Final[Mapping[str, ApprovedTemplate]] = {
    "order_confirmation": ApprovedTemplate(
        ("recipientName", "orderNumber", "businessName", "totalMinor"),
        "Hi {{1}}, we have your payment for order {{2}} from {{3}}. The total is {{4}} with the delivery. "
        "We hold it safely until you have your goods.",
    ),
    "vendor_dispatch_alert": ApprovedTemplate(
        ("recipientName", "orderNumber", "businessName"),
        (
            "Hi {{1}}, the new order {{2}} for {{3}} is paid. Please hand it over soon, and ask the buyer for the "
            "delivery PIN."
        ),
    ),
    "order_dispatched": ApprovedTemplate(
        ("recipientName", "orderNumber", "businessName"),
        "Hi {{1}}, your order {{2}} from {{3}} is on its way. Keep your delivery PIN ready for the handover.",
    ),
    "order_delivered": ApprovedTemplate(
        ("recipientName", "orderNumber", "businessName"),
        "Hi {{1}}, your order {{2}} from {{3}} was delivered. If anything is wrong with it, tell us in the app.",
    ),
    "return_requested": ApprovedTemplate(
        ("recipientName", "orderNumber"),
        "Hi {{1}}, a buyer wants to return goods of order {{2}}. Please decide on the order's page.",
    ),
    "return_request_update": ApprovedTemplate(
        ("recipientName", "orderNumber", "outcome", "refundMinor"),
        "Hi {{1}}, your return request for order {{2}} was decided. The decision is: {{3}}. "
        "The refund is: {{4}}. Read more on the order's page.",
    ),
    # The PIN is for the seller at the handover: the warning about sharing would be wrong.
    "delivery_pin": ApprovedTemplate(("pin",), category="AUTHENTICATION"),
    "delivery_pin_ready": ApprovedTemplate(
        ("recipientName", "orderNumber"),
        "Hi {{1}}, the delivery PIN of order {{2}} is ready. Read it on the order's page.",
    ),
    "order_cancelled": ApprovedTemplate(
        ("recipientName", "orderNumber", "businessName"),
        "Hi {{1}}, your order {{2}} from {{3}} was cancelled before it was paid. You owe nothing for it.",
    ),
    "order_expired": ApprovedTemplate(
        ("recipientName", "orderNumber", "businessName"),
        "Hi {{1}}, your order {{2}} from {{3}} was not paid in time and is closed. Order again whenever you like.",
    ),
    "order_closed_under_review": ApprovedTemplate(
        ("recipientName", "orderNumber", "businessName"),
        "Hi {{1}}, your order {{2}} from {{3}} is closed while we check the payment that we received for it. "
        "Your money is safe.",
    ),
    "payment_under_review": ApprovedTemplate(
        ("recipientName", "orderNumber"),
        "Hi {{1}}, we received your payment for order {{2}} and are checking it. "
        "Your money is safe; please do not pay again.",
    ),
    "payment_too_low": ApprovedTemplate(
        ("recipientName", "orderNumber", "amountMinor", "expectedMinor"),
        "Hi {{1}}, for order {{2}} we received {{3}}, and {{4}} was to pay. It goes back to you the way you paid. "
        "To keep the order, pay the whole amount in the app.",
    ),
    "payment_failed": ApprovedTemplate(
        ("recipientName", "orderNumber", "amountMinor", "failureReason"),
        "Hi {{1}}, your payment for order {{2}} of {{3}} was declined. The reason is: {{4}}. "
        "Open the order in the app to try again.",
    ),
    "order_completed": ApprovedTemplate(
        ("recipientName", "orderNumber", "businessName", "netMinor"),
        "Hi {{1}}, the money for order {{2}} for {{3}} was released: {{4}} is now in your wallet.",
    ),
    "order_refunded": ApprovedTemplate(
        ("recipientName", "orderNumber", "businessName", "amountMinor"),
        "Hi {{1}}, order {{2}} for {{3}} is refunded: {{4}} goes back to the buyer. Keep goods that have not left you.",
    ),
    "refund_in_balance": ApprovedTemplate(
        ("recipientName", "orderNumber", "amountMinor"),
        "Hi {{1}}, your refund for order {{2}} of {{3}} is in your balance. You can pay with it now.",
    ),
    "refund_on_its_way": ApprovedTemplate(
        ("recipientName", "orderNumber", "amountMinor"),
        "Hi {{1}}, your refund for order {{2}} of {{3}} is on its way to your bank.",
    ),
    "refund_settled": ApprovedTemplate(
        ("recipientName", "orderNumber", "amountMinor"),
        "Hi {{1}}, your refund for order {{2}} of {{3}} was paid out to your bank.",
    ),
    "refund_failed": ApprovedTemplate(
        ("recipientName", "orderNumber", "amountMinor"),
        "Hi {{1}}, your refund for order {{2}} of {{3}} was not accepted by your bank. Our team is working on it.",
    ),
    "dispute_opened": ApprovedTemplate(
        ("recipientName", "orderNumber"),
        "Hi {{1}}, a dispute about order {{2}} is open. Its money stays held until we decide.",
    ),
    "dispute_resolved": ApprovedTemplate(
        ("recipientName", "orderNumber", "outcome", "refundMinor"),
        "Hi {{1}}, the dispute about order {{2}} was decided. The decision is for: {{3}}. "
        "The refund to the buyer is {{4}} in all.",
    ),
    "chargeback_opened": ApprovedTemplate(
        ("recipientName", "orderNumber", "businessName", "amountMinor"),
        "Hi {{1}}, the buyer's bank asks for money of order {{2}} for {{3}} back. The amount is {{4}} for now. "
        "Keep your proof of delivery.",
    ),
    "chargeback_decided": ApprovedTemplate(
        ("recipientName", "orderNumber", "businessName", "outcome"),
        "Hi {{1}}, the buyer's bank has decided on order {{2}} for {{3}}. The case is {{4}} for you. "
        "Read more in the app.",
    ),
    "withdrawal_requested": ApprovedTemplate(
        ("recipientName", "amountMinor", "last4"),
        "Hi {{1}}, money leaves your balance: {{2}} goes to the bank account ending in {{3}}. If you did not ask "
        "for it, tell us at once.",
    ),
    "withdrawal_paid": ApprovedTemplate(
        ("recipientName", "amountMinor", "last4"),
        "Hi {{1}}, your withdrawal of {{2}} was paid to the bank account ending in {{3}}. Your bank shows it soon.",
    ),
    "withdrawal_returned": ApprovedTemplate(
        ("recipientName", "amountMinor", "last4"),
        "Hi {{1}}, your withdrawal of {{2}} could not be paid to the account ending in {{3}}. It is in your balance "
        "again.",
    ),
    "payout_failed": ApprovedTemplate(
        ("recipientName", "businessName", "amountMinor"),
        "Hi {{1}}, the payout for {{2}} of {{3}} could not be made. The amount is in your wallet.",
    ),
    "payout_reversed": ApprovedTemplate(
        ("recipientName", "businessName", "amountMinor"),
        "Hi {{1}}, the payout for {{2}} of {{3}} was sent back by your bank. The amount is in your wallet.",
    ),
    "payout_processed": ApprovedTemplate(
        ("recipientName", "businessName", "amountMinor"),
        "Hi {{1}}, the payout for {{2}} of {{3}} was sent to your bank.",
    ),
    "payout_delayed": ApprovedTemplate(
        ("recipientName", "businessName", "amountMinor"),
        "Hi {{1}}, the payout for {{2}} of {{3}} is delayed. Your money is safe.",
    ),
    "bank_details_changed": ApprovedTemplate(
        ("recipientName", "businessName", "last4"),
        "Hi {{1}}, payouts of {{2}} now go to the account ending in {{3}}. If you did not change it, tell us at once.",
    ),
    "bank_details_quarantined": ApprovedTemplate(
        ("recipientName", "businessName", "last4", "reason"),
        "Hi {{1}}, payouts of {{2}} to the account ending in {{3}} are stopped. The reason is: {{4}}. "
        "Check your bank details in the app.",
    ),
    "vendor_application_decided": ApprovedTemplate(
        ("recipientName", "outcome"),
        "Hi {{1}}, your application to sell was decided. The decision is: {{2}}. Read more in the app.",
    ),
    "vendor_suspended": ApprovedTemplate(
        ("recipientName", "businessName", "reason"),
        "Hi {{1}}, your shop {{2}} is suspended. The reason is: {{3}}. Our support in the app can help you.",
    ),
    "vendor_reinstated": ApprovedTemplate(
        ("recipientName", "businessName"),
        "Hi {{1}}, the suspension of your shop {{2}} is over. You can sell again.",
    ),
    "product_delisted": ApprovedTemplate(
        ("recipientName", "productName", "reason"),
        "Hi {{1}}, we have taken down your product {{2}}. The reason is: {{3}}. Our support in the app can help you.",
    ),
    "product_relisted": ApprovedTemplate(
        ("recipientName", "productName"),
        "Hi {{1}}, your product {{2}} is shown to buyers again. You can see it in your shop.",
    ),
    "ticket_reply": ApprovedTemplate(
        ("recipientName", "ticketNumber"),
        "Hi {{1}}, support has answered your ticket {{2}} today. Write here to continue, or read it in the app.",
    ),
    "erasure_refused": ApprovedTemplate(
        ("recipientName", "matters"),
        "Hi {{1}}, your account cannot be erased yet. Still open: {{2}}. Finish it and ask again.",
    ),
    "credentials_changed": ApprovedTemplate(
        ("recipientName",),
        "Hi {{1}}, your sign-in was changed. If it was not you, set a new password at once and tell our support.",
    ),
    "api_key_expiring": ApprovedTemplate(
        ("recipientName", "keyName", "expiresOn"),
        "Hi {{1}}, the API key {{2}} expires on {{3}}. Create the next one and give it to the program.",
    ),
    "shop_invitation": ApprovedTemplate(
        ("recipientName", "businessName"),
        "Hi {{1}}, the shop {{2}} invited you to work for it. Sign in and answer the invitation within seven days.",
    ),
    "one_time_code": ApprovedTemplate(
        ("code",), category="AUTHENTICATION", warns_about_sharing=True, lifetime_seconds=600
    ),
}


class Component(TypedDict, total=False):
    """A component of a template, as the messaging app registers it."""

    type: Required[str]
    text: str
    example: dict[str, list[list[str]]]
    add_security_recommendation: bool
    buttons: list[dict[str, str]]


class Registration(TypedDict):
    """The payload that registers a template. The lifetime of a message is in seconds."""

    name: str
    language: str
    category: str
    message_send_ttl_seconds: NotRequired[int]
    components: list[Component]


def registration_of(name: str, language: str, example: Sequence[str]) -> Registration:
    """Return the payload that registers a template: `POST {business account}/message_templates`.

    `example` has one value for each parameter; the reviewer reads it.
    """
    template = APPROVED_TEMPLATES[name]
    registration = Registration(
        name=name, language=language, category=template.category, components=_components(template, example)
    )
    if template.lifetime_seconds is not None:
        registration["message_send_ttl_seconds"] = template.lifetime_seconds
    return registration


def _components(template: ApprovedTemplate, example: Sequence[str]) -> list[Component]:
    if template.category == "UTILITY":
        return [{"type": "BODY", "text": template.body, "example": {"body_text": [list(example)]}}]
    return [
        {"type": "BODY", "add_security_recommendation": template.warns_about_sharing},
        {"type": "BUTTONS", "buttons": [{"type": "OTP", "otp_type": "COPY_CODE", "text": COPY_BUTTON}]},
    ]


def placeholders_of(body: str) -> list[int]:
    """Return the numbers of the placeholders in their order."""
    return [int(number) for number in _PLACEHOLDER.findall(body)]
