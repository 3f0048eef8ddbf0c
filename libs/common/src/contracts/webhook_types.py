"""The event types of outgoing webhooks (contract section 9.5), for the service that sends them and the console."""

from typing import Final

from contracts import orders, payments, payouts
from contracts.topology import WEBHOOK_EVENTS

# A vendor receives the events of its own orders and payouts.
_OF_A_VENDOR: Final = frozenset(
    {
        orders.OrderPlaced,
        orders.OrderCancelled,
        orders.OrderExpired,
        orders.RefundRequested,
        orders.OrderLineCancelled,
        orders.OrderDispatched,
        orders.OrderArrived,
        orders.OrderDelivered,
        orders.OrderDisputed,
        orders.DisputeResolved,
        orders.ReturnRequested,
        orders.ReturnDecided,
        orders.OrderCompleted,
        orders.ProductDelisted,
        orders.ProductRelisted,
        payments.EscrowHeld,
        payments.EscrowReleased,
        payments.EscrowRefunded,
        payments.ChargeDisputed,
        payouts.PayoutRequested,
        payouts.PayoutSubmitted,
        payouts.PayoutProcessed,
        payouts.PayoutFailed,
        payouts.PayoutReversed,
        payouts.PayoutDelayed,
    }
)
EVENT_TYPES: Final = tuple(event.TYPE for event in WEBHOOK_EVENTS)
VENDOR_TYPES: Final = tuple(event.TYPE for event in WEBHOOK_EVENTS if event in _OF_A_VENDOR)
