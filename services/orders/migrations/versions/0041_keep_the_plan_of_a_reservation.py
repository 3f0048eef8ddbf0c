"""Keep the plan of a reservation of stock (decision 224)."""

from alembic import op

revision = "0041"
down_revision = "0040"

_BODY = """
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
"""
_FUNCTION = """
CREATE OR REPLACE FUNCTION reserve_variants(
    product_ids uuid[], variant_ids uuid[], quantities integer[], prices_minor bigint[]
)
RETURNS TABLE (product_id uuid, stock_left integer)
LANGUAGE {language} VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
{body}
$$
"""


def upgrade() -> None:
    body = f"#variable_conflict use_column\nBEGIN\n    RETURN QUERY{_BODY.rstrip()};\nEND"
    op.execute(_FUNCTION.format(language="plpgsql", body=body))


def downgrade() -> None:
    op.execute(_FUNCTION.format(language="sql", body=_BODY.strip("\n")))
