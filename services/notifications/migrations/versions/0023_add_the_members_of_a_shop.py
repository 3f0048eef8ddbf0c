"""Add the members of a shop."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    op.create_table(
        "shop_members",
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("vendor_id", sa.Uuid(), nullable=False),
        sa.Column("role", sa.Text(), nullable=True),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("role IN ('manager', 'packer')", name="shop_members_role_known"),
        sa.PrimaryKeyConstraint("user_id"),
    )
    op.create_index(
        "shop_members_of_vendor",
        "shop_members",
        ["vendor_id", "user_id"],
        unique=False,
        postgresql_where=sa.text("role IS NOT NULL"),
        if_not_exists=True,
    )


def downgrade() -> None:
    op.drop_index("shop_members_of_vendor", table_name="shop_members")
    op.drop_table("shop_members")
