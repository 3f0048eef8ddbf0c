"""The subject of a notification: what a client opens for it (contract section 12.2)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from common.primitives.ids import parse_uuid

SubjectKind = Literal[
    "order",
    "payment",
    "payout",
    "return_request",
    "dispute",
    "ticket",
    "vendor_application",
    "product",
    "review",
    "account",
    "conversation",
]

# No template is about a review yet.
KIND_BY_TEMPLATE: Final[Mapping[str, SubjectKind]] = {
    "order_confirmation": "order",
    "vendor_dispatch_alert": "order",
    "order_to_pack": "order",
    "order_line_cancelled": "order",
    "order_dispatched": "order",
    "parcel_coming": "order",
    "order_arrived": "order",
    "order_delivered": "order",
    "return_requested": "return_request",
    "return_request_update": "return_request",
    "delivery_pin": "order",
    "delivery_pin_ready": "order",
    "order_cancelled": "order",
    "order_expired": "order",
    "order_closed_under_review": "order",
    "payment_under_review": "order",
    "payment_too_low": "order",
    "charge_quarantined": "order",
    "payment_failed": "payment",
    "order_completed": "order",
    "order_refunded": "order",
    "refund_in_balance": "order",
    "refund_on_its_way": "order",
    "refund_settled": "order",
    "refund_failed": "order",
    "dispute_opened": "dispute",
    "dispute_resolved": "dispute",
    "chargeback_opened": "order",
    "chargeback_decided": "order",
    "payout_failed": "payout",
    "payout_reversed": "payout",
    "payout_processed": "payout",
    "payout_delayed": "payout",
    "withdrawal_requested": "account",
    "withdrawal_paid": "account",
    "withdrawal_returned": "account",
    "bank_details_changed": "account",
    "bank_details_quarantined": "account",
    "vendor_application_decided": "vendor_application",
    "vendor_suspended": "account",
    "vendor_reinstated": "account",
    "ticket_reply": "ticket",
    "product_delisted": "product",
    "product_relisted": "product",
    "back_in_stock": "product",
    "price_drop": "product",
    "new_message": "conversation",
    "erasure_refused": "account",
    "account_erased": "account",
    "credentials_changed": "account",
    "api_key_expiring": "account",
    "shop_invitation": "account",
    "confirm_email": "account",
    "already_registered": "account",
    "one_time_code": "account",
}
# The parameter that names the subject. An order has at most one dispute, which has the order's id. The id of any other
# kind is no parameter of its template.
_PARAMETER_BY_KIND: Final[Mapping[SubjectKind, str]] = {
    "order": "orderId",
    "dispute": "orderId",
    "payout": "payoutId",
    "ticket": "ticketId",
    "product": "productId",
    "conversation": "conversationId",
}


@dataclass(frozen=True, slots=True)
class Subject:
    """`order_id` is the order that the subject belongs to."""

    kind: SubjectKind
    id: UUID
    order_id: UUID | None = None

    @property
    def content(self) -> dict[str, str]:
        """The public form, in which it is also stored."""
        order = {} if self.order_id is None else {"orderId": str(self.order_id)}
        return {"kind": self.kind, "id": str(self.id), **order}


def subject_of(
    template: str, parameters: Mapping[str, object], user_id: UUID | None, named_id: UUID | None = None
) -> Subject | None:
    """Return the subject of a message to a user.

    `named_id` is the id of a subject that no parameter names. Without the subject's own id it is the order, else the
    user's account; None for a message without a user.
    """
    kind, order_id = KIND_BY_TEMPLATE[template], _id_in(parameters, "orderId")
    parameter = _PARAMETER_BY_KIND.get(kind)
    own_id = named_id if parameter is None else _id_in(parameters, parameter)
    if own_id is not None and kind != "account":
        return Subject(kind, own_id, order_id)
    if order_id is not None:
        return Subject("order", order_id, order_id)
    return None if user_id is None else Subject("account", user_id)


def _id_in(parameters: Mapping[str, object], name: str) -> UUID | None:
    """deliver-notification accepts any text as an id."""
    text = parameters.get(name)
    return parse_uuid(text) if isinstance(text, str) else None
