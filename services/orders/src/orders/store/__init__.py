"""SQL for writes. Each function runs one statement of the caller's unit of work and decides nothing.

All transactions lock in one order: the order's row first, then products by id. Timers, refunds and PINs of an order are
touched only under the lock of the order's row.
"""

from orders.store.checkout import (
    CheckoutFacts,
    IdempotencyRecord,
    Placed,
    find_order_by_key,
    read_for_checkout,
    save_new_order,
)
from orders.store.contacts import save_user_contact
from orders.store.orders import find_order, lock_order, save_escrow, save_quarantined_charge, save_transition
from orders.store.pins import (
    Verification,
    count_wrong_attempt,
    find_newest_pin,
    find_verification,
    lock_pin,
    record_verification_if_new,
    save_pin,
)
from orders.store.projections import (
    save_buyer_addresses,
    save_campus,
    save_hub,
    save_vendor,
    save_vendor_status,
)
from orders.store.refunds import Refund, has_failed_refund, lock_refund, record_refund, save_failed_refund, save_refund
from orders.store.stock import (
    StockLevel,
    free_stock,
    rename_vendor_on_products,
    reserve_stock_again,
    save_product_if_new,
)
from orders.store.timers import claim_timer, delete_timer, find_next_timer, list_due_timers

__all__ = [
    "CheckoutFacts",
    "IdempotencyRecord",
    "Placed",
    "Refund",
    "StockLevel",
    "Verification",
    "claim_timer",
    "count_wrong_attempt",
    "delete_timer",
    "find_newest_pin",
    "find_next_timer",
    "find_order",
    "find_order_by_key",
    "find_verification",
    "free_stock",
    "has_failed_refund",
    "list_due_timers",
    "lock_order",
    "lock_pin",
    "lock_refund",
    "read_for_checkout",
    "record_refund",
    "record_verification_if_new",
    "rename_vendor_on_products",
    "reserve_stock_again",
    "save_buyer_addresses",
    "save_campus",
    "save_escrow",
    "save_failed_refund",
    "save_hub",
    "save_new_order",
    "save_pin",
    "save_product_if_new",
    "save_quarantined_charge",
    "save_refund",
    "save_transition",
    "save_user_contact",
    "save_vendor",
    "save_vendor_status",
]
