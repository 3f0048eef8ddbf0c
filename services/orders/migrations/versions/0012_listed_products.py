"""The view `listed_products`; `shelf`, which the previous version reads, is the same (decision 109)."""

from alembic import op

revision = "0012"
down_revision = "0011"

LISTED = """
SELECT id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, currency, stock, images,
       rating_sum, rating_count, revision, words, created_at, has_sales, terms
FROM products
WHERE removed_at IS NULL AND NOT draft AND vendor_id NOT IN (SELECT id FROM vendors WHERE suspended)
"""


def upgrade() -> None:
    op.execute(f"CREATE VIEW listed_products AS {LISTED}")
    op.execute("GRANT SELECT ON listed_products TO campus_orders_api")
    op.execute("CREATE OR REPLACE VIEW shelf AS SELECT * FROM listed_products")
    op.execute("ALTER POLICY products_on_the_shelf ON products RENAME TO products_listed")


def downgrade() -> None:
    op.execute("ALTER POLICY products_listed ON products RENAME TO products_on_the_shelf")
    op.execute(f"CREATE OR REPLACE VIEW shelf AS {LISTED}")
    op.execute("DROP VIEW listed_products")
