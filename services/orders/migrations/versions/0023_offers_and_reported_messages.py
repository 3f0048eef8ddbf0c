"""Add offers in conversations and reports of messages."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"

_INSTANT = sa.TIMESTAMP(timezone=True)
_RIGHTS = (
    """
ALTER TABLE conversation_messages ADD CONSTRAINT conversation_messages_hidden_for_a_reason
CHECK ((hidden_at IS NULL) = (hidden_because IS NULL)) NOT VALID
""",
    """CREATE FUNCTION has_reported_message(conversation uuid) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM conversation_messages AS message JOIN reports AS report ON report.subject_id = message.id
        WHERE message.conversation_id = conversation AND report.kind = 'message'
    )
$$""",
    "REVOKE EXECUTE ON FUNCTION has_reported_message FROM public",
    "GRANT EXECUTE ON FUNCTION has_reported_message TO campus_orders_api",
    """CREATE POLICY conversations_of_reported_messages ON conversations FOR SELECT
    USING ((SELECT app_may('reports:decide')) AND has_reported_message(id))""",
    "ALTER TABLE conversation_offers ENABLE ROW LEVEL SECURITY",
    "GRANT SELECT, UPDATE (accepted_at, order_id) ON conversation_offers TO campus_orders_api",
    """CREATE POLICY conversation_offers_with_their_message ON conversation_offers FOR SELECT
    USING (EXISTS (SELECT FROM conversation_messages AS message WHERE message.id = conversation_offers.message_id))""",
    """CREATE POLICY conversation_offers_accepted_by_their_buyer ON conversation_offers FOR UPDATE
    USING (buyer_id = app_user_id() AND order_id IS NULL AND withdrawn_at IS NULL)
    WITH CHECK (buyer_id = app_user_id())""",
)


def upgrade() -> None:
    op.add_column("conversation_messages", sa.Column("hidden_at", _INSTANT, nullable=True))
    op.add_column("conversation_messages", sa.Column("hidden_because", sa.Text(), nullable=True))
    op.create_table(
        "conversation_offers",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("message_id", sa.Uuid(), nullable=False),
        sa.Column("buyer_id", sa.Uuid(), nullable=False),
        sa.Column("vendor_id", sa.Uuid(), nullable=False),
        sa.Column("product_id", sa.Uuid(), nullable=False),
        sa.Column("variant_id", sa.Uuid(), nullable=True),
        sa.Column("quantity", sa.Integer(), nullable=False),
        sa.Column("unit_price_minor", sa.BigInteger(), nullable=False),
        sa.Column("created_at", _INSTANT, nullable=False),
        sa.Column("expires_at", _INSTANT, nullable=False),
        sa.Column("withdrawn_at", _INSTANT, nullable=True),
        sa.Column("accepted_at", _INSTANT, nullable=True),
        sa.Column("order_id", sa.Uuid(), nullable=True),
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
        sa.ForeignKeyConstraint(["message_id"], ["conversation_messages.id"], name="conversation_offers_message"),
        sa.ForeignKeyConstraint(["order_id"], ["orders.id"], name="conversation_offers_order"),
        sa.ForeignKeyConstraint(["product_id"], ["products.id"], name="conversation_offers_product"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("message_id", name="conversation_offers_one_of_message"),
    )
    op.create_index("conversation_offers_of_buyer", "conversation_offers", ["buyer_id"], if_not_exists=True)
    op.create_index("conversation_offers_of_vendor", "conversation_offers", ["vendor_id"], if_not_exists=True)
    _allow_reports("'product', 'review', 'vendor', 'message'")
    for statement in _RIGHTS:
        op.execute(statement)


def downgrade() -> None:
    op.drop_table("conversation_offers")
    op.execute("DROP POLICY conversations_of_reported_messages ON conversations")
    op.execute("DROP FUNCTION has_reported_message")
    op.drop_column("conversation_messages", "hidden_because")
    op.drop_column("conversation_messages", "hidden_at")
    op.execute("DELETE FROM reports WHERE kind = 'message'")
    _allow_reports("'product', 'review', 'vendor'")


def _allow_reports(kinds: str) -> None:
    op.drop_constraint("reports_kind_known", "reports", type_="check")
    op.execute(f"ALTER TABLE reports ADD CONSTRAINT reports_kind_known CHECK (kind IN ({kinds})) NOT VALID")
    op.execute("ALTER TABLE reports VALIDATE CONSTRAINT reports_kind_known")
