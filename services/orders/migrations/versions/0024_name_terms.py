"""Index each two neighbours of a product's name as one word too."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0024"
down_revision = "0023"

_LISTED = """
CREATE OR REPLACE VIEW listed_products AS
SELECT id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, currency, stock, images,
       rating_sum, rating_count, revision, words, created_at, has_sales, coalesce(variant_terms, {terms}) AS terms, options,
       condition
FROM products
WHERE removed_at IS NULL AND NOT draft AND hidden_at IS NULL AND vendor_id NOT IN (SELECT id FROM vendors WHERE suspended)
"""
_VALUES = """
UPDATE products SET variant_terms = {terms} || setweight(to_tsvector('every_word', {text}((
    SELECT string_agg(listed.word, ' ')
    FROM jsonb_array_elements(options) AS option (fields), jsonb_array_elements_text(option.fields->'values') AS listed (word)
))), 'B')
WHERE options <> '[]'
"""
_INDEXES = {
    "products_words": "words",
    "products_terms": "terms",
    "products_all_terms": "coalesce(variant_terms, terms)",
}


def _create_index(name: str, expression: str) -> None:
    op.create_index(
        name,
        "products",
        [sa.literal_column(expression)],
        unique=False,
        postgresql_using="gin",
        postgresql_with={"fastupdate": "off"},
        postgresql_where=sa.text("removed_at IS NULL AND NOT draft"),
        if_not_exists=True,
    )


def upgrade() -> None:
    op.execute("""
CREATE FUNCTION joined_text(text text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT concat_ws(' ', words, regexp_replace(words, '(\\S+) (\\S+)', '\\1\\2', 'g'),
                     regexp_replace(regexp_replace(words, '^\\S+ ', ''), '(\\S+) (\\S+)', '\\1\\2', 'g'))
    FROM btrim(public.search_text(text)) AS words
$$
""")
    op.add_column(
        "products",
        sa.Column(
            "name_terms",
            postgresql.TSVECTOR(),
            sa.Computed(
                "setweight(to_tsvector('every_word', joined_text(name)), 'A') || setweight(to_tsvector('every_word', "
                "search_text(category)), 'B') || setweight(to_tsvector('every_word', search_text(description)), 'D')",
                persisted=True,
            ),
            nullable=True,
        ),
    )
    op.execute(_VALUES.format(terms="name_terms", text="joined_text"))
    _create_index("products_name_terms", "coalesce(variant_terms, name_terms)")
    op.execute(_LISTED.format(terms="name_terms"))
    # The view's `terms` is another expression now: no statement of the version before uses these.
    for name in _INDEXES:
        op.drop_index(name, table_name="products")


def downgrade() -> None:
    for name, expression in _INDEXES.items():
        _create_index(name, expression)
    op.execute(_LISTED.format(terms="terms"))
    op.drop_index("products_name_terms", table_name="products")
    op.execute(_VALUES.format(terms="terms", text="search_text"))
    op.drop_column("products", "name_terms")
    op.execute("DROP FUNCTION joined_text(text)")
