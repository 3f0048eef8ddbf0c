"""A search reads letters without their accents, on both sides: `ofada` finds Ọ̀fadà, and so does Ọ̀fadà.

Many letters of Yoruba exist only as a letter with marks behind it, and what a parser makes of a mark differs from place to place.
So words are made plain before anything is looked for or found: compatibility forms resolved, accents left out, small letters.
`orders.domain.catalog.plain` does the same to what is typed.
"""

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_PLAIN = """
CREATE FUNCTION plain(text text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT lower(normalize(regexp_replace(normalize(text, NFKD), '[\\u0300-\\u036f]+', '', 'g'), NFC))
$$
"""
# Indented as revision 0003 wrote it: a function's text is kept as it was written.
_WORDS_IN = """
    CREATE OR REPLACE FUNCTION words_in(text text) RETURNS SETOF text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT DISTINCT word FROM regexp_split_to_table({read}, '[\\x01-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7f]+') AS word
        WHERE length(word) >= 3 AND octet_length(word) <= 24 AND word !~ '^[0-9]+$'
    $$
"""
_WORDS = """
ALTER TABLE products ADD words tsvector GENERATED ALWAYS AS (
    setweight(to_tsvector('english', {name}), 'A')
    || setweight(to_tsvector('english', {category}), 'B')
    || setweight(to_tsvector('english', {description}), 'D')
) STORED
"""
_TEXTS = ("name", "category", "description")
_INDEX = "CREATE INDEX products_words ON products USING gin (words) WITH (fastupdate = off) WHERE removed_at IS NULL AND NOT draft"
_SHELF = """
CREATE VIEW shelf AS
SELECT id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, currency, stock, images,
       rating_sum, rating_count, revision, words, created_at, has_sales
FROM products
WHERE removed_at IS NULL AND NOT draft AND vendor_id NOT IN (SELECT vendors.id FROM vendors WHERE vendors.suspended)
"""


def upgrade() -> None:
    op.execute(_PLAIN)
    op.execute(_WORDS_IN.format(read="plain(text)"))
    _gather_anew({text: f"plain({text})" for text in _TEXTS})
    op.execute("DELETE FROM search_words WHERE word <> plain(word)")
    _learn()


def downgrade() -> None:
    op.execute(_WORDS_IN.format(read="lower(text)"))
    _gather_anew({text: text for text in _TEXTS})
    _learn()
    op.execute("DROP FUNCTION plain")


def _gather_anew(texts: dict[str, str]) -> None:
    op.execute("DROP VIEW shelf")
    op.execute("ALTER TABLE products DROP words")
    op.execute(_WORDS.format(**texts))
    op.execute(_INDEX)
    op.execute(_SHELF)
    op.execute("GRANT SELECT ON shelf TO campus_orders_api")


def _learn() -> None:
    op.execute(
        "INSERT INTO search_words (word) SELECT DISTINCT word FROM products, words_in(name || ' ' || category) AS word "
        "ON CONFLICT DO NOTHING"
    )
