"""A user's personal records in this service.

Orders that other users placed with the user's vendor belong to those users.
"""

from typing import Final

from common.standard_endpoints.personal_records import Section
from orders.queries.carts import CART_LINES

SECTIONS: Final = (
    Section(
        "purchases",
        "SELECT id::text AS place, id, number, created_at FROM purchases WHERE buyer_id = $1",
    ),
    Section(
        "purchaseDrafts",
        "SELECT id::text AS place, id, lines, purchase_id, created_at FROM purchase_drafts WHERE buyer_id = $1",
    ),
    Section(
        "orders",
        "SELECT id::text AS place, id, number, purchase_id, vendor_id, campus_id, hub_id, status, currency, "
        "total_amount AS total_minor, "
        "subtotal_minor, delivery_fee_minor, refunded_minor, delivery_note, payment_due_at, delivered_at, "
        "created_at, updated_at "
        "FROM orders WHERE buyer_id = $1",
    ),
    Section(
        "orderItems",
        "SELECT id::text AS place, id, order_id, product_id, variant_id, name, quantity, unit_price_minor, "
        "line_total_minor, cancelled_at "
        "FROM order_items WHERE buyer_id = $1",
    ),
    Section(
        "orderHistory",
        "SELECT concat(history.order_id, history.id) AS place, history.order_id, history.event, history.status, "
        "history.occurred_at "
        "FROM order_history AS history JOIN orders AS placed ON placed.id = history.order_id WHERE "
        "placed.buyer_id = $1",
    ),
    Section(
        "refunds",
        "SELECT refund.id::text AS place, refund.id, refund.order_id, refund.amount_minor, refund.reason, "
        "refund.status, "
        "refund.requested_at FROM order_refunds AS refund JOIN orders AS placed ON placed.id = refund.order_id "
        "WHERE placed.buyer_id = $1",
        past_policies=True,
    ),
    Section(
        "receipts",
        (
            "SELECT subject_id::text AS place, subject_id AS order_id, number, issued_at FROM issued_documents WHERE "
            "recipient_id = $1"
        ),
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
        "WHERE (dispute.buyer_id = $1 AND evidence.author = 'buyer') OR (dispute.vendor_id = $2 AND "
        "evidence.author = 'vendor')",
    ),
    Section(
        "returnRequests",
        "SELECT id::text AS place, id, order_id, reason, status, refund_minor, decision_reason, decided_at, created_at "
        "FROM return_requests WHERE buyer_id = $1",
    ),
    Section(
        "reviews",
        "SELECT id::text AS place, id, order_id, vendor_id, product_id, rating, text, created_at, hidden_at, "
        "hidden_because "
        "FROM reviews WHERE buyer_id = $1",
    ),
    Section(
        "reports",
        "SELECT id::text AS place, id, kind, subject_id, vendor_id, reason, details, outcome, decided_at, created_at "
        "FROM reports WHERE reporter_id = $1",
    ),
    Section(
        "cart",
        "SELECT product_id::text || coalesce(variant_id::text, '') AS place, product_id, variant_id, name, quantity, "
        f"price_seen_minor, added_at FROM ({CART_LINES}) AS line",
    ),
    Section(
        "savedProducts",
        "SELECT product_id::text AS place, product_id, saved_at FROM saved_products WHERE buyer_id = $1",
    ),
    Section(
        "followedVendors",
        "SELECT vendor_id::text AS place, vendor_id, followed_at FROM followed_vendors WHERE buyer_id = $1",
    ),
    Section(
        "messages",
        "SELECT message.id::text AS place, message.id, message.conversation_id, conversation.product_id, "
        "conversation.order_id, "
        "message.text, message.created_at, image.id AS image_id FROM conversation_messages AS message "
        "JOIN conversations AS conversation ON conversation.id = message.conversation_id "
        "LEFT JOIN conversation_images AS image ON image.message_id = message.id WHERE message.author_id = $1",
    ),
    Section(
        "offers",
        "SELECT id::text AS place, id, buyer_id, vendor_id, product_id, variant_id, quantity, unit_price_minor, "
        "expires_at, withdrawn_at, order_id, created_at FROM conversation_offers WHERE buyer_id = $1 OR vendor_id = $2",
    ),
    Section(
        "reviewReplies",
        "SELECT id::text AS place, id AS review_id, reply_text AS text, replied_at FROM reviews "
        "WHERE vendor_id = $2 AND replied_at IS NOT NULL",
        # Replies to hidden reviews included.
        past_policies=True,
    ),
    Section(
        "products",
        "SELECT id::text AS place, id, name, description, category, price_minor, stock, draft, condition, "
        "options, created_at, "
        "removed_at FROM products WHERE vendor_id = $2",
        # Removed products included.
        past_policies=True,
    ),
    Section(
        "productVariants",
        "SELECT variant.id::text AS place, variant.id, variant.product_id, variant.sku, variant.option_values, "
        "variant.price_minor, "
        "variant.stock, variant.active FROM product_variants AS variant JOIN products AS own ON own.id = "
        "variant.product_id "
        "WHERE own.vendor_id = $2",
        past_policies=True,
    ),
)
