"""Add receipts."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0019"
down_revision = "0018"

_RIGHTS = (
    "REVOKE DELETE ON document_counters FROM campus_orders_service",
    "ALTER TABLE issued_documents ENABLE ROW LEVEL SECURITY",
    "GRANT SELECT ON issued_documents TO campus_orders_api",
    "REVOKE UPDATE, DELETE ON issued_documents FROM campus_orders_service",
    "GRANT UPDATE (content, recipient_encrypted) ON issued_documents TO campus_orders_service",
    "CREATE POLICY issued_documents_of_their_buyer ON issued_documents FOR SELECT "
    "USING (recipient_id = (SELECT app_user_id()))",
)


def upgrade() -> None:
    op.create_table(
        "document_counters",
        sa.Column("vendor_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("last", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("vendor_id", "kind"),
    )
    op.create_table(
        "issued_documents",
        sa.Column("subject_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("vendor_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("recipient_id", sa.Uuid(), nullable=True),
        sa.Column("content", postgresql.JSONB(), nullable=False),
        sa.Column("recipient_encrypted", sa.Text(), nullable=False),
        sa.Column("issued_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("subject_id"),
        sa.UniqueConstraint("vendor_id", "kind", "number", name="issued_documents_number_once"),
    )
    op.create_index(
        "issued_documents_of_recipient",
        "issued_documents",
        ["recipient_id"],
        unique=False,
        postgresql_where=sa.text("recipient_id IS NOT NULL"),
        if_not_exists=True,
    )
    for statement in _RIGHTS:
        op.execute(statement)


def downgrade() -> None:
    op.drop_table("issued_documents")
    op.drop_table("document_counters")
