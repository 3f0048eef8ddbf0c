"""Add conversations of buyers and vendors."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"

_INSTANT = sa.TIMESTAMP(timezone=True)
_RIGHTS = (
    "ALTER TABLE conversations ENABLE ROW LEVEL SECURITY",
    "GRANT SELECT ON conversations TO campus_orders_api",
    """CREATE POLICY conversations_of_their_parties ON conversations FOR SELECT
    USING (
        buyer_id = (SELECT app_user_id())
        OR (vendor_id = (SELECT app_vendor_id()) AND (SELECT app_may('catalog:own')))
    )""",
    """CREATE FUNCTION is_disputed_or_returned(conversation conversations) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM orders AS placed
        WHERE placed.buyer_id = conversation.buyer_id
          AND placed.vendor_id = conversation.vendor_id
          AND (
              placed.id = conversation.order_id
              OR EXISTS (
                  SELECT FROM order_items AS item
                  WHERE item.order_id = placed.id AND item.product_id = conversation.product_id
              )
          )
          AND (
              EXISTS (SELECT FROM order_disputes AS dispute WHERE dispute.order_id = placed.id)
              OR EXISTS (SELECT FROM return_requests AS request WHERE request.order_id = placed.id)
          )
    )
$$""",
    "REVOKE EXECUTE ON FUNCTION is_disputed_or_returned FROM public",
    "GRANT EXECUTE ON FUNCTION is_disputed_or_returned TO campus_orders_api",
    """CREATE POLICY conversations_of_disputes_and_returns ON conversations FOR SELECT
    USING ((SELECT app_may('disputes:prepare')) AND is_disputed_or_returned(conversations))""",
    """CREATE TRIGGER conversations_refuse_leaving_buyer AFTER INSERT ON conversations
    FOR EACH ROW EXECUTE FUNCTION refuse_leaving_buyer()""",
    """CREATE TRIGGER conversations_refuse_leaving_vendor AFTER INSERT ON conversations
    FOR EACH ROW EXECUTE FUNCTION refuse_leaving_vendor()""",
    "ALTER TABLE conversation_messages ENABLE ROW LEVEL SECURITY",
    "GRANT SELECT ON conversation_messages TO campus_orders_api",
    """CREATE POLICY conversation_messages_with_their_conversation ON conversation_messages FOR SELECT
    USING (EXISTS (SELECT FROM conversations WHERE conversations.id = conversation_messages.conversation_id))""",
    "REVOKE UPDATE, DELETE ON conversation_reads FROM campus_orders_service",
)


def upgrade() -> None:
    op.create_table(
        "conversations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("buyer_id", sa.Uuid(), nullable=False),
        sa.Column("vendor_id", sa.Uuid(), nullable=False),
        sa.Column("product_id", sa.Uuid(), nullable=True),
        sa.Column("order_id", sa.Uuid(), nullable=True),
        sa.Column("opened_by", sa.Uuid(), nullable=False),
        sa.Column("buyer_name", sa.Text(), nullable=True),
        sa.Column("blocked_by", sa.Text(), nullable=True),
        sa.Column("buyer_unread", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("vendor_unread", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("buyer_notified_at", _INSTANT, nullable=True),
        sa.Column("vendor_notified_at", _INSTANT, nullable=True),
        sa.Column("created_at", _INSTANT, nullable=False),
        sa.Column("last_message_at", _INSTANT, nullable=False),
        sa.CheckConstraint("num_nonnulls(product_id, order_id) = 1", name="conversations_about_one_thing"),
        sa.CheckConstraint("blocked_by IN ('buyer', 'vendor')", name="conversations_blocked_by_a_party"),
        sa.ForeignKeyConstraint(["product_id"], ["products.id"], name="conversations_product"),
        sa.ForeignKeyConstraint(["order_id"], ["orders.id"], name="conversations_order"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("buyer_id", "product_id", name="conversations_one_of_buyer_and_product"),
        sa.UniqueConstraint("order_id", name="conversations_one_of_order"),
    )
    op.create_table(
        "conversation_messages",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("author_id", sa.Uuid(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("masked", sa.Boolean(), nullable=False),
        sa.Column("created_at", _INSTANT, nullable=False),
        sa.CheckConstraint("author IN ('buyer', 'vendor')", name="conversation_messages_author_known"),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversations.id"], name="conversation_messages_conversation"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "conversation_reads",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("staff_id", sa.Uuid(), nullable=False),
        sa.Column("read_at", _INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    for name, table, columns in (
        ("conversations_of_buyer", "conversations", ["buyer_id", "created_at", "id"]),
        ("conversations_of_vendor", "conversations", ["vendor_id", "created_at", "id"]),
        ("conversations_opened_by", "conversations", ["opened_by", "created_at"]),
        ("conversations_oldest", "conversations", ["last_message_at"]),
        ("conversation_messages_of_conversation", "conversation_messages", ["conversation_id", "created_at", "id"]),
        ("conversation_messages_of_author", "conversation_messages", ["author_id", "created_at"]),
        ("conversation_messages_oldest", "conversation_messages", ["created_at"]),
        ("conversation_reads_of_conversation", "conversation_reads", ["conversation_id", "read_at"]),
    ):
        op.create_index(name, table, columns, if_not_exists=True)
    for statement in _RIGHTS:
        op.execute(statement)


def downgrade() -> None:
    for table in ("conversation_reads", "conversation_messages"):
        op.drop_table(table)
    op.execute("DROP POLICY conversations_of_disputes_and_returns ON conversations")
    op.execute("DROP FUNCTION is_disputed_or_returned")
    op.drop_table("conversations")
