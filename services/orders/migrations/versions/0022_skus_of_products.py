"""Add the SKU of a product without variants."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"

_OF_VENDOR = sa.text("removed_at IS NULL AND sku IS NOT NULL")


def upgrade() -> None:
    op.add_column("products", sa.Column("sku", sa.Text(), nullable=True))
    op.create_index(
        "products_sku_once",
        "products",
        ["vendor_id", "sku"],
        unique=True,
        postgresql_where=_OF_VENDOR,
        if_not_exists=True,
    )
    op.execute("GRANT UPDATE (sku) ON products TO campus_orders_api")


def downgrade() -> None:
    op.drop_index("products_sku_once", table_name="products", postgresql_where=_OF_VENDOR)
    op.drop_column("products", "sku")
