"""The events of outgoing webhooks: their types, who receives them, and the fields that are sent out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from notifications.webhooks.domain.errors import UnknownEventTypes

# A vendor receives the events of its own orders and payouts.
VENDOR_TYPES: Final = (
    "orders.order_placed.v1",
    "orders.order_cancelled.v1",
    "orders.order_expired.v1",
    "orders.refund_requested.v1",
    "orders.order_dispatched.v1",
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
# The event that an owner sends to its own endpoint. No endpoint subscribes to it.
TEST_TYPE: Final = "notifications.webhook_test.v1"
# A new field of an event stays inside until it is listed here. Not listed: signed statements between our services, the
# user who verified a delivery, and parts of bank accounts.
_FIELDS: Final = frozenset(
    {
        *(
            "orderId",
            "buyerId",
            "vendorId",
            "campusId",
            "productId",
            "userId",
            "payoutId",
            "refundId",
            "releaseId",
            "purchaseId",
            "paymentId",
            "withdrawalId",
        ),
        *("returnRequestId", "reviewId", "chargebackId", "quarantinedChargeId", "reconciliationId", "exceptionId"),
        *("batchId", "reference", "transferCode"),
        *(
            "totalMinor",
            "amountMinor",
            "commissionMinor",
            "deliveryFeeMinor",
            "refundMinor",
            "releaseMinor",
            "feeMinor",
        ),
        *("priceMinor", "grossMinor", "netMinor", "remainingMinor", "remainingVendorMinor", "vendorMinor"),
        *("fromVendorMinor", "toVendorMinor", "currency", "items", "orderIds"),
        *("paymentDueAt", "heldAt", "deliveredAt", "occurredAt", "respondBy"),
        *(
            "name",
            "inStock",
            "removed",
            "rating",
            "kind",
            "status",
            "outcome",
            "reason",
            "failureReason",
            "cause",
            "severity",
            "cancelled",
        ),
    }
)


@dataclass(frozen=True, slots=True)
class WebhookEvent:
    """A published event as subscribers see it. `vendor_id`: the vendor that may receive it; None: the platform
    alone.
    """

    id: UUID
    type: str
    vendor_id: UUID | None
    occurred_at: datetime
    data: Mapping[str, Any]
    traceparent: str | None = None
    """The W3C trace context of what caused the event."""


def webhook_event(event_id: UUID, event_type: str, occurred_at: datetime, data: Mapping[str, Any]) -> WebhookEvent:
    """Return the public part of an event. `data` is the event's data with JSON values."""
    vendor_id = UUID(data["vendorId"]) if event_type in VENDOR_TYPES else None
    public = {name: value for name, value in data.items() if name in _FIELDS}
    return WebhookEvent(event_id, event_type, vendor_id, occurred_at, public)


def sample_event(event_id: UUID, endpoint_id: UUID, vendor_id: UUID | None, now: datetime) -> WebhookEvent:
    """Return an event that tests an endpoint: `data.test` is true, and no resource changed."""
    return WebhookEvent(event_id, TEST_TYPE, vendor_id, now, {"test": True, "endpointId": str(endpoint_id)})


def check_event_types(event_types: Sequence[str], vendor_id: UUID | None) -> list[str]:
    """Return the types without repetitions. Raises UnknownEventTypes for those that the endpoint's owner cannot
    receive.
    """
    known = EVENT_TYPES if vendor_id is None else VENDOR_TYPES
    unknown = [name for name in dict.fromkeys(event_types) if name not in known]
    if unknown:
        raise UnknownEventTypes(unknown)
    return list(dict.fromkeys(event_types))
