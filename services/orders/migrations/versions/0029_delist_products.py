"""Delist products."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"

_LISTED = """
ALTER POLICY products_listed ON products USING (
    (removed_at IS NULL AND NOT draft AND hidden_at IS NULL)
    OR vendor_id = app_vendor_id()
    OR {hidden}
)
"""
_HIDDEN_BEFORE = "(hidden_at IS NOT NULL AND app_may('reports:read'))"
_HIDDEN = """(
    hidden_at IS NOT NULL
    AND (app_may('reports:read') OR (campus_id = app_campus_id() AND app_may('listings:delist')))
)"""


def upgrade() -> None:
    op.execute(_LISTED.format(hidden=_HIDDEN))
    op.create_table(
        "product_takedowns",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("product_id", sa.Uuid(), nullable=False),
        sa.Column("vendor_id", sa.Uuid(), nullable=False),
        sa.Column("campus_id", sa.Uuid(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("delisted_by", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("restored_by", sa.Uuid(), nullable=True),
        sa.Column("restored_at", sa.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("restored_because", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "num_nonnulls(restored_by, restored_at, restored_because) IN (0, 3)", name="product_takedowns_restored_once"
        ),
        sa.ForeignKeyConstraint(["product_id"], ["products.id"], name="product_takedowns_product"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("product_takedowns_by", "product_takedowns", ["delisted_by"], unique=False, if_not_exists=True)
    op.create_index(
        "product_takedowns_newest", "product_takedowns", ["created_at", "id"], unique=False, if_not_exists=True
    )
    op.create_index(
        "product_takedowns_of_campus",
        "product_takedowns",
        ["campus_id", "created_at", "id"],
        unique=False,
        if_not_exists=True,
    )
    op.create_index(
        "product_takedowns_of_product", "product_takedowns", ["product_id"], unique=False, if_not_exists=True
    )
    op.create_index(
        "product_takedowns_one_open",
        "product_takedowns",
        ["product_id"],
        unique=True,
        postgresql_where=sa.text("restored_at IS NULL"),
        if_not_exists=True,
    )
    op.create_index(
        "product_takedowns_restored_by",
        "product_takedowns",
        ["restored_by"],
        unique=False,
        postgresql_where=sa.text("restored_by IS NOT NULL"),
        if_not_exists=True,
    )
    op.execute("ALTER TABLE product_takedowns ENABLE ROW LEVEL SECURITY")
    op.execute("GRANT SELECT ON product_takedowns TO campus_orders_api")
    op.execute("REVOKE UPDATE, DELETE ON product_takedowns FROM campus_orders_service")
    op.execute(
        "GRANT UPDATE (restored_by, restored_at, restored_because) ON product_takedowns TO campus_orders_service"
    )
    op.execute("""
        CREATE POLICY product_takedowns_of_the_campus_and_staff ON product_takedowns FOR SELECT
            USING (
                (SELECT app_may('reports:read'))
                OR (campus_id = (SELECT app_campus_id()) AND (SELECT app_may('listings:delist')))
            )
    """)


def downgrade() -> None:
    op.execute(_LISTED.format(hidden=_HIDDEN_BEFORE))
    op.drop_index(
        "product_takedowns_restored_by",
        table_name="product_takedowns",
        postgresql_where=sa.text("restored_by IS NOT NULL"),
    )
    op.drop_index(
        "product_takedowns_one_open", table_name="product_takedowns", postgresql_where=sa.text("restored_at IS NULL")
    )
    op.drop_index("product_takedowns_of_product", table_name="product_takedowns")
    op.drop_index("product_takedowns_of_campus", table_name="product_takedowns")
    op.drop_index("product_takedowns_newest", table_name="product_takedowns")
    op.drop_index("product_takedowns_by", table_name="product_takedowns")
    op.drop_table("product_takedowns")
