"""Conversations of a buyer and a vendor, their messages, and the reads of support (decision 150)."""

import sqlalchemy as sa

from common.database.tables import known
from orders.domain.conversations import Side
from orders.tables.metadata import INSTANT, metadata

# About one product or one order. `blocked_by` is the side that wants no message of the other. `..._notified_at` is the
# last push to that side: at most one a minute.
sa.Table(
    "conversations",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("buyer_id", sa.Uuid, nullable=False),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("product_id", sa.Uuid, sa.ForeignKey("products.id", name="conversations_product")),
    sa.Column("order_id", sa.Uuid, sa.ForeignKey("orders.id", name="conversations_order")),
    sa.Column("opened_by", sa.Uuid, nullable=False),
    sa.Column("buyer_name", sa.Text),
    sa.Column("blocked_by", sa.Text),
    sa.Column("buyer_unread", sa.Integer, nullable=False, server_default=sa.text("0")),
    sa.Column("vendor_unread", sa.Integer, nullable=False, server_default=sa.text("0")),
    sa.Column("buyer_notified_at", INSTANT),
    sa.Column("vendor_notified_at", INSTANT),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("last_message_at", INSTANT, nullable=False),
    sa.CheckConstraint("num_nonnulls(product_id, order_id) = 1", name="conversations_about_one_thing"),
    known("conversations", "blocked_by", Side, name="conversations_blocked_by_a_party"),
    sa.UniqueConstraint("buyer_id", "product_id", name="conversations_one_of_buyer_and_product"),
    sa.UniqueConstraint("order_id", name="conversations_one_of_order"),
    sa.Index("conversations_of_buyer", "buyer_id", "created_at", "id"),
    sa.Index("conversations_of_vendor", "vendor_id", "created_at", "id"),
    sa.Index("conversations_opened_by", "opened_by", "created_at"),
    sa.Index("conversations_oldest", "last_message_at"),
)

# The text is stored masked. Erasure empties the texts of the author.
sa.Table(
    "conversation_messages",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column(
        "conversation_id",
        sa.Uuid,
        sa.ForeignKey("conversations.id", name="conversation_messages_conversation"),
        nullable=False,
    ),
    sa.Column("author", sa.Text, nullable=False),
    sa.Column("author_id", sa.Uuid, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("masked", sa.Boolean, nullable=False),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("hidden_at", INSTANT),
    sa.Column("hidden_because", sa.Text),
    sa.CheckConstraint(
        "(hidden_at IS NULL) = (hidden_because IS NULL)", name="conversation_messages_hidden_for_a_reason"
    ),
    known("conversation_messages", "author", Side),
    sa.Index("conversation_messages_of_conversation", "conversation_id", "created_at", "id"),
    sa.Index("conversation_messages_of_author", "author_id", "created_at"),
    sa.Index("conversation_messages_oldest", "created_at"),
)

# An image is uploaded before the message that shows it. Without a message it is deleted after a day, otherwise with its
# message (decision 169).
sa.Table(
    "conversation_images",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column(
        "conversation_id",
        sa.Uuid,
        sa.ForeignKey("conversations.id", name="conversation_images_conversation"),
        nullable=False,
    ),
    sa.Column("author_id", sa.Uuid, nullable=False),
    sa.Column("message_id", sa.Uuid, sa.ForeignKey("conversation_messages.id", name="conversation_images_message")),
    sa.Column("byte_count", sa.Integer, nullable=False),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.UniqueConstraint("message_id", name="conversation_images_one_of_message"),
    sa.Index("conversation_images_of_conversation", "conversation_id"),
    sa.Index("conversation_images_of_author", "author_id", "created_at"),
    sa.Index("conversation_images_unsent", "created_at", postgresql_where=sa.text("message_id IS NULL")),
)

# A price and a quantity that the vendor offers to the buyer, shown with its message and deleted with it. The buyer's
# checkout uses it once and sets `order_id` (decision 160).
sa.Table(
    "conversation_offers",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column(
        "message_id",
        sa.Uuid,
        sa.ForeignKey("conversation_messages.id", name="conversation_offers_message"),
        nullable=False,
    ),
    sa.Column("buyer_id", sa.Uuid, nullable=False),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("product_id", sa.Uuid, sa.ForeignKey("products.id", name="conversation_offers_product"), nullable=False),
    sa.Column("variant_id", sa.Uuid),
    sa.Column("quantity", sa.Integer, nullable=False),
    sa.Column("unit_price_minor", sa.BigInteger, nullable=False),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("expires_at", INSTANT, nullable=False),
    sa.Column("withdrawn_at", INSTANT),
    sa.Column("accepted_at", INSTANT),
    sa.Column("order_id", sa.Uuid, sa.ForeignKey("orders.id", name="conversation_offers_order")),
    sa.CheckConstraint("quantity BETWEEN 1 AND 99", name="conversation_offers_quantity_1_to_99"),
    sa.CheckConstraint("unit_price_minor > 0", name="conversation_offers_price_above_zero"),
    sa.CheckConstraint(
        "expires_at > created_at AND expires_at <= created_at + interval '48 hours'",
        name="conversation_offers_at_most_48_hours",
    ),
    sa.CheckConstraint(
        "(order_id IS NULL) = (accepted_at IS NULL) AND num_nonnulls(withdrawn_at, accepted_at) <= 1",
        name="conversation_offers_ended_once",
    ),
    sa.UniqueConstraint("message_id", name="conversation_offers_one_of_message"),
    sa.Index("conversation_offers_of_buyer", "buyer_id"),
    sa.Index("conversation_offers_of_vendor", "vendor_id"),
)

# Permanent: who of the staff read which conversation. Without a reference, because conversations expire.
sa.Table(
    "conversation_reads",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("conversation_id", sa.Uuid, nullable=False),
    sa.Column("staff_id", sa.Uuid, nullable=False),
    sa.Column("read_at", INSTANT, nullable=False),
    sa.Index("conversation_reads_of_conversation", "conversation_id", "read_at"),
)
