"""Retention rules of orders. Orders, decisions and their idempotency keys are kept for ever (decision 23)."""

from datetime import timedelta

from common.database.retention import RetentionRule, Rule
from common.media.cleanup import UNREFERENCED_LIFE
from orders.domain.carts import KEPT as CART_LINES_KEPT
from orders.domain.conversations import KEPT as CONVERSATIONS_KEPT
from orders.domain.purchase_drafts import KEPT as DRAFTS_KEPT

# No PIN verifies in these states, and no transition leads from them to a state in which one does.
_SETTLED = """
EXISTS (
    SELECT FROM orders
    WHERE orders.id = delivery_pins.order_id AND orders.status IN ('paid', 'refunded', 'cancelled', 'expired')
)
"""

# The months count from the last message of the conversation.
_IN_OLD_CONVERSATION = """
EXISTS (
    SELECT FROM conversations AS conversation
    WHERE conversation.id = conversation_messages.conversation_id AND conversation.last_message_at <= $1
)
"""
_WITHOUT_MESSAGES = """
NOT EXISTS (SELECT FROM conversation_messages AS message WHERE message.conversation_id = conversations.id)
AND NOT EXISTS (SELECT FROM conversation_images AS image WHERE image.conversation_id = conversations.id)
"""


def retention_rules(delivery_pins: timedelta) -> tuple[Rule, ...]:
    """`delivery_pins` is the retention of the PIN of a settled order."""
    return (
        RetentionRule("delivery_pins", ("order_id",), "issued_at", delivery_pins, over=_SETTLED),
        RetentionRule(
            "conversation_messages",
            ("id",),
            "created_at",
            CONVERSATIONS_KEPT,
            over=_IN_OLD_CONVERSATION,
            followers={"conversation_offers": "message_id", "conversation_images": "message_id"},
            image_owners={"conversation_images": "conversation_id"},
        ),
        # The cleanup of unreferenced images removes the files.
        RetentionRule("conversation_images", ("id",), "created_at", UNREFERENCED_LIFE, over="message_id IS NULL"),
        RetentionRule("cart_items", ("buyer_id", "product_id"), "added_at", CART_LINES_KEPT),
        RetentionRule("cart_variants", ("buyer_id", "product_id", "variant_id"), "added_at", CART_LINES_KEPT),
        RetentionRule("purchase_drafts", ("id",), "created_at", DRAFTS_KEPT),
        RetentionRule("conversations", ("id",), "last_message_at", CONVERSATIONS_KEPT, over=_WITHOUT_MESSAGES),
    )
