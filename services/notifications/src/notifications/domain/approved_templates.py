"""Placeholders {{1}}, {{2}}, ... of the messaging app's approved templates, in their order.

The texts are registered with the provider under the names of our templates, in each language. The README lists them.
"""

from collections.abc import Mapping
from typing import Final

APPROVED: Final[Mapping[str, tuple[str, ...]]] = {
    "order_confirmation": ("recipientName", "orderId", "businessName", "totalMinor"),
    "vendor_dispatch_alert": ("recipientName", "orderId", "businessName"),
    "order_dispatched": ("recipientName", "orderId", "businessName"),
    "order_delivered": ("recipientName", "orderId", "businessName"),
    "return_requested": ("recipientName", "orderId"),
    "return_request_update": ("recipientName", "orderId", "outcome", "refundMinor"),
    "delivery_pin": ("orderId", "pin"),
    "delivery_pin_ready": ("recipientName", "orderId"),
    "order_cancelled": ("recipientName", "orderId", "businessName"),
    "order_expired": ("recipientName", "orderId", "businessName"),
    "order_closed_under_review": ("recipientName", "orderId", "businessName"),
    "payment_under_review": ("recipientName", "orderId"),
    "payment_failed": ("recipientName", "orderId", "amountMinor", "failureReason"),
    "order_completed": ("recipientName", "orderId", "businessName", "netMinor"),
    "order_refunded": ("recipientName", "orderId", "businessName", "amountMinor"),
    "refund_on_its_way": ("recipientName", "orderId", "amountMinor"),
    "refund_settled": ("recipientName", "orderId", "amountMinor"),
    "refund_failed": ("recipientName", "orderId", "amountMinor"),
    "dispute_opened": ("recipientName", "orderId"),
    "dispute_resolved": ("recipientName", "orderId", "outcome", "refundMinor"),
    "chargeback_opened": ("recipientName", "orderId", "businessName", "amountMinor"),
    "chargeback_decided": ("recipientName", "orderId", "businessName", "outcome"),
    "payout_failed": ("recipientName", "businessName", "amountMinor"),
    "payout_reversed": ("recipientName", "businessName", "amountMinor"),
    "payout_processed": ("recipientName", "businessName", "amountMinor"),
    "payout_delayed": ("recipientName", "businessName", "amountMinor"),
    "bank_details_changed": ("recipientName", "businessName", "last4"),
    "bank_details_quarantined": ("recipientName", "businessName", "last4", "reason"),
    "vendor_application_decided": ("recipientName", "outcome"),
    "vendor_suspended": ("recipientName", "businessName", "reason"),
    "vendor_reinstated": ("recipientName", "businessName"),
    "ticket_reply": ("recipientName", "ticketId"),
    "erasure_refused": ("recipientName", "matters"),
    "account_erased": (),
    "credentials_changed": ("recipientName",),
    "confirm_email": ("code",),
    "already_registered": (),
    "one_time_code": ("code",),
}
# The provider rejects an empty parameter.
NOT_GIVEN: Final = "-"
# Templates of the category "authentication" repeat the code in a copy button.
WITH_COPY_BUTTON: Final = frozenset({"one_time_code"})
# The provider's limit for a text with parameters.
PARAMETER_MAX: Final = 512
