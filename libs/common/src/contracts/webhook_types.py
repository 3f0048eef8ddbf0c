"""The event types of outgoing webhooks (contract section 9.5), for the service that sends them and the console."""

from typing import Final

# A vendor receives the events of its own orders and payouts.
VENDOR_TYPES: Final = (
    "orders.order_placed.v1",
    "orders.order_cancelled.v1",
    "orders.order_expired.v1",
    "orders.refund_requested.v1",
    "orders.order_line_cancelled.v1",
    "orders.order_dispatched.v1",
    "orders.order_arrived.v1",
    "orders.order_delivered.v1",
    "orders.order_disputed.v1",
    "orders.dispute_resolved.v1",
    "orders.return_requested.v1",
    "orders.return_decided.v1",
    "orders.order_completed.v1",
    "orders.product_delisted.v1",
    "orders.product_relisted.v1",
    "payments.escrow_held.v1",
    "payments.escrow_released.v1",
    "payments.escrow_refunded.v1",
    "payments.charge_disputed.v1",
    "payouts.payout_requested.v1",
    "payouts.payout_submitted.v1",
    "payouts.payout_processed.v1",
    "payouts.payout_failed.v1",
    "payouts.payout_reversed.v1",
    "payouts.payout_delayed.v1",
)
_PLATFORM_ONLY: Final = (
    "orders.purchase_placed.v1",
    "orders.product_changed.v1",
    "orders.review_posted.v1",
    "orders.product_hidden.v1",
    "orders.offer_made.v1",
    "orders.offer_accepted.v1",
    "payments.outside_refund_recorded.v1",
    "payments.goodwill_given.v1",
    "payments.refund_settled.v1",
    "payments.refund_failed.v1",
    "payments.charge_quarantined.v1",
    "payments.payment_failed.v1",
    "payments.transfer_succeeded.v1",
    "payments.transfer_failed.v1",
    "payments.transfer_reversed.v1",
    "payments.reward_credited.v1",
    "payments.withdrawal_requested.v1",
    "payments.withdrawal_paid.v1",
    "payments.withdrawal_returned.v1",
    "payouts.exception_opened.v1",
    "payouts.exception_changed.v1",
    "payouts.exception_closed.v1",
)
# The published events of orders, payments and payouts. Those of this service are about its own messages (decision 63).
EVENT_TYPES: Final = VENDOR_TYPES + _PLATFORM_ONLY
