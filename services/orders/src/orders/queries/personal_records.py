"""A user's personal records in this service.

Orders that other users placed with the user's vendor belong to those users.
"""

from typing import Final

from common.standard_endpoints.personal_records import Section

SECTIONS: Final = (
    Section(
        "orders",
        "SELECT id::text AS place, id, number, vendor_id, campus_id, hub_id, status, currency, total_amount AS total_minor, "
        "subtotal_minor, delivery_fee_minor, refunded_minor, delivery_note, payment_due_at, delivered_at, created_at, updated_at "
        "FROM orders WHERE buyer_id = $1",
    ),
    Section(
        "orderItems",
        "SELECT id::text AS place, id, order_id, product_id, name, quantity, unit_price_minor, line_total_minor "
        "FROM order_items WHERE buyer_id = $1",
    ),
    Section(
        "orderHistory",
        "SELECT concat(history.order_id, history.id) AS place, history.order_id, history.event, history.status, history.occurred_at "
        "FROM order_history AS history JOIN orders AS placed ON placed.id = history.order_id WHERE placed.buyer_id = $1",
    ),
    Section(
        "refunds",
        "SELECT refund.id::text AS place, refund.id, refund.order_id, refund.amount_minor, refund.reason, refund.status, "
        "refund.requested_at FROM order_refunds AS refund JOIN orders AS placed ON placed.id = refund.order_id WHERE placed.buyer_id = $1",
        past_policies=True,
    ),
    Section(
        "disputes",
        "SELECT order_id::text AS place, order_id, cause, reason, details, raised_at, outcome, ended_at "
        "FROM order_disputes WHERE buyer_id = $1",
    ),
    Section(
        "disputeEvidence",
        "SELECT evidence.id::text AS place, evidence.id, evidence.order_id, evidence.byte_count, evidence.created_at "
        "FROM dispute_evidence AS evidence JOIN order_disputes AS dispute USING (order_id) "
        "WHERE (dispute.buyer_id = $1 AND evidence.author = 'buyer') OR (dispute.vendor_id = $2 AND evidence.author = 'vendor')",
    ),
    Section(
        "returnRequests",
        "SELECT id::text AS place, id, order_id, reason, status, refund_minor, decision_reason, decided_at, created_at "
        "FROM return_requests WHERE buyer_id = $1",
    ),
    Section(
        "reviews",
        "SELECT id::text AS place, id, order_id, vendor_id, product_id, rating, text, created_at, hidden_at, hidden_because "
        "FROM reviews WHERE buyer_id = $1",
    ),
    Section(
        "cart",
        "SELECT product_id::text AS place, product_id, name, quantity, price_seen_minor, added_at FROM cart_items WHERE buyer_id = $1",
    ),
    Section(
        "products",
        "SELECT id::text AS place, id, name, description, category, price_minor, stock, draft, created_at, removed_at "
        "FROM products WHERE vendor_id = $2",
        # Removed products included.
        past_policies=True,
    ),
)
