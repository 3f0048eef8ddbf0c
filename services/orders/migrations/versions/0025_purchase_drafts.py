"""Add purchase drafts."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0025"
down_revision = "0024"

_RIGHTS = (
    "ALTER TABLE purchase_drafts ENABLE ROW LEVEL SECURITY",
    "GRANT SELECT, UPDATE (purchase_id) ON purchase_drafts TO campus_orders_api",
    """
CREATE POLICY purchase_drafts_of_the_buyer ON purchase_drafts FOR SELECT
    USING (buyer_id = app_user_id())
""",
    """
CREATE POLICY purchase_drafts_checked_out_by_the_buyer ON purchase_drafts FOR UPDATE
    USING (buyer_id = app_user_id())
    WITH CHECK (buyer_id = app_user_id())
""",
    """
CREATE TRIGGER purchase_drafts_refuse_leaving_buyer AFTER INSERT ON purchase_drafts
    FOR EACH ROW EXECUTE FUNCTION refuse_leaving_buyer()
""",
)


def upgrade() -> None:
    op.create_table(
        "purchase_drafts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("buyer_id", sa.Uuid(), nullable=False),
        sa.Column("lines", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("purchase_id", sa.Uuid(), nullable=True),
        sa.Column("created_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["purchase_id"], ["purchases.id"], name="purchase_drafts_purchase"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("purchase_id"),
    )
    op.create_index("purchase_drafts_of_buyer", "purchase_drafts", ["buyer_id"], unique=False, if_not_exists=True)
    op.create_index("purchase_drafts_oldest", "purchase_drafts", ["created_at"], unique=False, if_not_exists=True)
    for statement in _RIGHTS:
        op.execute(statement)


def downgrade() -> None:
    op.drop_index("purchase_drafts_oldest", table_name="purchase_drafts")
    op.drop_index("purchase_drafts_of_buyer", table_name="purchase_drafts")
    op.drop_table("purchase_drafts")
