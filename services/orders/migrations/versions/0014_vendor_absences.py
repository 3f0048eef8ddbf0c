"""Add the absence of a vendor."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.add_column("vendors", sa.Column("absent_until", sa.TIMESTAMP(timezone=True), nullable=True))
    op.add_column("vendors", sa.Column("absence_message", sa.Text(), nullable=True))
    op.create_index(
        "vendors_absent",
        "vendors",
        ["id"],
        unique=False,
        postgresql_where=sa.text("absent_until IS NOT NULL"),
        if_not_exists=True,
    )


def downgrade() -> None:
    op.drop_index("vendors_absent", table_name="vendors", postgresql_where=sa.text("absent_until IS NOT NULL"))
    op.drop_column("vendors", "absence_message")
    op.drop_column("vendors", "absent_until")
