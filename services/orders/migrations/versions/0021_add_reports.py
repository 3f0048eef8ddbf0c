"""Add reports."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"

_RIGHTS_AND_RULES = (
    """
ALTER TABLE products ADD CONSTRAINT products_hidden_for_a_reason
CHECK ((hidden_at IS NULL) = (hidden_because IS NULL)) NOT VALID
""",
    """
ALTER POLICY products_listed ON products USING (
    (removed_at IS NULL AND NOT draft AND hidden_at IS NULL)
    OR vendor_id = app_vendor_id()
    OR (hidden_at IS NOT NULL AND app_may('reports:read'))
)
""",
    """
CREATE OR REPLACE VIEW listed_products AS
SELECT id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, currency, stock, images,
       rating_sum, rating_count, revision, words, created_at, has_sales, coalesce(variant_terms, terms) AS terms, options,
       condition
FROM products
WHERE removed_at IS NULL AND NOT draft AND hidden_at IS NULL AND vendor_id NOT IN (SELECT id FROM vendors WHERE suspended)
""",
    """
CREATE OR REPLACE FUNCTION reserve_variants(product_ids uuid[], variant_ids uuid[], quantities integer[], prices_minor bigint[])
RETURNS TABLE (product_id uuid, stock_left integer)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH lines AS MATERIALIZED (
        SELECT * FROM unnest(product_ids, variant_ids, quantities, prices_minor)
            AS line (product_id, variant_id, quantity, price_minor)
    ), wanted AS MATERIALIZED (
        SELECT lines.product_id AS id, sum(lines.quantity)::integer AS quantity, min(lines.quantity) AS quantity_min,
               min(lines.price_minor) AS price_minor, count(lines.variant_id) AS variants
        FROM lines GROUP BY lines.product_id
    ), locked AS MATERIALIZED (
        SELECT product.id, wanted.quantity
        FROM wanted JOIN products AS product ON product.id = wanted.id
        WHERE wanted.quantity_min > 0 AND product.stock >= wanted.quantity AND product.removed_at IS NULL AND NOT product.draft
          AND product.hidden_at IS NULL
          AND CASE WHEN wanted.variants = 0 THEN product.options = '[]' AND product.price_minor = wanted.price_minor
              ELSE product.options <> '[]' END
        ORDER BY product.id FOR NO KEY UPDATE OF product
    ), locked_variants AS MATERIALIZED (
        SELECT variant.id, lines.quantity
        FROM locked JOIN lines ON lines.product_id = locked.id
        JOIN product_variants AS variant ON variant.id = lines.variant_id AND variant.product_id = lines.product_id
        WHERE variant.active AND variant.stock >= lines.quantity AND variant.price_minor = lines.price_minor
        ORDER BY variant.id FOR NO KEY UPDATE OF variant
    ), complete AS MATERIALIZED (
        SELECT (SELECT count(*) FROM locked) = (SELECT count(*) FROM wanted)
           AND (SELECT count(*) FROM locked_variants) = (SELECT count(*) FROM lines WHERE lines.variant_id IS NOT NULL) AS holds
    ), reserved AS (
        UPDATE product_variants AS variant SET stock = variant.stock - locked_variants.quantity
        FROM locked_variants, complete WHERE variant.id = locked_variants.id AND complete.holds
    )
    UPDATE products AS product SET stock = product.stock - locked.quantity, revision = product.revision + 1
    FROM locked, complete
    WHERE product.id = locked.id AND complete.holds
    RETURNING product.id, product.stock
$$
""",
    "ALTER TABLE reports ENABLE ROW LEVEL SECURITY",
    "GRANT SELECT, INSERT ON reports TO campus_orders_api",
    "REVOKE DELETE ON reports FROM campus_orders_service",
    """
CREATE POLICY reports_of_their_reporter_and_staff ON reports FOR SELECT
    USING (
        reporter_id = (SELECT app_user_id())
        OR (SELECT app_may('reports:read'))
        OR (campus_id = (SELECT app_campus_id()) AND (SELECT app_may('vendors:suspend')))
    )
""",
    """
CREATE POLICY reports_made_by_their_reporter ON reports FOR INSERT
    WITH CHECK (reporter_id = app_user_id() AND outcome IS NULL)
""",
)
_EARLIER = (
    "ALTER TABLE products DROP CONSTRAINT products_hidden_for_a_reason",
    """
ALTER POLICY products_listed ON products
USING ((removed_at IS NULL AND NOT draft) OR vendor_id = app_vendor_id())
""",
    """
CREATE OR REPLACE VIEW listed_products AS
SELECT id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, currency, stock, images,
       rating_sum, rating_count, revision, words, created_at, has_sales, coalesce(variant_terms, terms) AS terms, options,
       condition
FROM products
WHERE removed_at IS NULL AND NOT draft AND vendor_id NOT IN (SELECT id FROM vendors WHERE suspended)
""",
    """
CREATE OR REPLACE FUNCTION reserve_variants(product_ids uuid[], variant_ids uuid[], quantities integer[], prices_minor bigint[])
RETURNS TABLE (product_id uuid, stock_left integer)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH lines AS MATERIALIZED (
        SELECT * FROM unnest(product_ids, variant_ids, quantities, prices_minor)
            AS line (product_id, variant_id, quantity, price_minor)
    ), wanted AS MATERIALIZED (
        SELECT lines.product_id AS id, sum(lines.quantity)::integer AS quantity, min(lines.quantity) AS quantity_min,
               min(lines.price_minor) AS price_minor, count(lines.variant_id) AS variants
        FROM lines GROUP BY lines.product_id
    ), locked AS MATERIALIZED (
        SELECT product.id, wanted.quantity
        FROM wanted JOIN products AS product ON product.id = wanted.id
        WHERE wanted.quantity_min > 0 AND product.stock >= wanted.quantity AND product.removed_at IS NULL AND NOT product.draft
          AND CASE WHEN wanted.variants = 0 THEN product.options = '[]' AND product.price_minor = wanted.price_minor
              ELSE product.options <> '[]' END
        ORDER BY product.id FOR NO KEY UPDATE OF product
    ), locked_variants AS MATERIALIZED (
        SELECT variant.id, lines.quantity
        FROM locked JOIN lines ON lines.product_id = locked.id
        JOIN product_variants AS variant ON variant.id = lines.variant_id AND variant.product_id = lines.product_id
        WHERE variant.active AND variant.stock >= lines.quantity AND variant.price_minor = lines.price_minor
        ORDER BY variant.id FOR NO KEY UPDATE OF variant
    ), complete AS MATERIALIZED (
        SELECT (SELECT count(*) FROM locked) = (SELECT count(*) FROM wanted)
           AND (SELECT count(*) FROM locked_variants) = (SELECT count(*) FROM lines WHERE lines.variant_id IS NOT NULL) AS holds
    ), reserved AS (
        UPDATE product_variants AS variant SET stock = variant.stock - locked_variants.quantity
        FROM locked_variants, complete WHERE variant.id = locked_variants.id AND complete.holds
    )
    UPDATE products AS product SET stock = product.stock - locked.quantity, revision = product.revision + 1
    FROM locked, complete
    WHERE product.id = locked.id AND complete.holds
    RETURNING product.id, product.stock
$$
""",
)


def upgrade() -> None:
    op.create_table(
        "reports",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("reporter_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject_id", sa.Uuid(), nullable=False),
        sa.Column("vendor_id", sa.Uuid(), nullable=False),
        sa.Column("campus_id", sa.Uuid(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("details", sa.Text(), nullable=True),
        sa.Column("created_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("decided_by", sa.Uuid(), nullable=True),
        sa.Column("decided_at", sa.TIMESTAMP(timezone=True), nullable=True),
        sa.CheckConstraint("kind IN ('product', 'review', 'vendor')", name="reports_kind_known"),
        sa.CheckConstraint("outcome IN ('dismiss', 'hide', 'suspend_vendor')", name="reports_outcome_known"),
        sa.CheckConstraint(
            "(outcome IS NULL) = (decided_by IS NULL) AND (outcome IS NULL) = (decided_at IS NULL)",
            name="reports_decided_once",
        ),
        sa.CheckConstraint("decided_by <> reporter_id", name="reports_decided_by_another_person"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("reports_newest", "reports", ["created_at", "id"], unique=False, if_not_exists=True)
    op.create_index(
        "reports_newest_of_campus", "reports", ["campus_id", "created_at", "id"], unique=False, if_not_exists=True
    )
    op.create_index("reports_of_subject", "reports", ["kind", "subject_id"], unique=False, if_not_exists=True)
    op.create_index(
        "reports_one_open",
        "reports",
        ["reporter_id", "kind", "subject_id"],
        unique=True,
        postgresql_where=sa.text("outcome IS NULL"),
        if_not_exists=True,
    )
    op.create_index(
        "reports_waiting",
        "reports",
        ["created_at"],
        unique=False,
        postgresql_where=sa.text("outcome IS NULL"),
        if_not_exists=True,
    )
    op.add_column("products", sa.Column("hidden_at", sa.TIMESTAMP(timezone=True), nullable=True))
    op.add_column("products", sa.Column("hidden_because", sa.Text(), nullable=True))
    for statement in _RIGHTS_AND_RULES:
        op.execute(statement)


def downgrade() -> None:
    for statement in _EARLIER:
        op.execute(statement)
    op.drop_column("products", "hidden_because")
    op.drop_column("products", "hidden_at")
    op.drop_index("reports_waiting", table_name="reports", postgresql_where=sa.text("outcome IS NULL"))
    op.drop_index("reports_one_open", table_name="reports", postgresql_where=sa.text("outcome IS NULL"))
    op.drop_index("reports_of_subject", table_name="reports")
    op.drop_index("reports_newest_of_campus", table_name="reports")
    op.drop_index("reports_newest", table_name="reports")
    op.drop_table("reports")
