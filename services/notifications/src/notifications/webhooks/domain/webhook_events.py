"""The events of outgoing webhooks: who receives them, and the fields that are sent out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from common.primitives.json_records import Json
from contracts.webhook_types import EVENT_TYPES, VENDOR_TYPES
from notifications.webhooks.domain.errors import UnknownEventTypes

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
    data: Mapping[str, Json]
    traceparent: str | None = None
    """The W3C trace context of what caused the event."""


def webhook_event(event_id: UUID, event_type: str, occurred_at: datetime, data: Mapping[str, Json]) -> WebhookEvent:
    """Return the public part of an event. `data` is the event's data with JSON values."""
    vendor_id = UUID(str(data["vendorId"])) if event_type in VENDOR_TYPES else None
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
