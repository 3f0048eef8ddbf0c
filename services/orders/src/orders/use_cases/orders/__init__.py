"""Orders from checkout to completion."""

__all__ = [
    "accept_payment",
    "arrive_order",
    "cancel_order",
    "cancel_order_line",
    "complete_order",
    "dispatch_order",
    "dispatch_packed_order",
    "find_order_roles",
    "fire_timer",
    "place_orders",
    "record_quarantined_charge",
]
