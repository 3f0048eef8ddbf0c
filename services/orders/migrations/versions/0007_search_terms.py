"""Index every word of a product's name as the search asks for it.

The parser of PostgreSQL reads `Rice/Beans` as a path, `Node.js` as a host and `1.5L` as a number, and the English
configuration drops `can` and `it`. So names lose their punctuation first, in one function, and a configuration without
stop words stems them. The version before keeps its own column, `words`.
"""

from typing import Final

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

# The separators of words, as in `orders.domain.products`.
_SEPARATORS: Final = (
    r"[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u00d7\u00f7\u02b0-\u02ff\u2000-\u206f\u20a0-\u20cf"
    r"\u2190-\u2bff\u3000-\u303f\ufe00-\ufe0f\ufe30-\ufe4f\U0001f000-\U0001faff]+"
)
_HOOKED: Final = "\u0181\u018a\u0198\u01b3\u0253\u0257\u0199\u01b4"
_UPGRADE: Final = (
    "CREATE TEXT SEARCH DICTIONARY english_stem_all (TEMPLATE = pg_catalog.snowball, Language = english)",
    "CREATE TEXT SEARCH CONFIGURATION every_word (COPY = pg_catalog.english)",
    """
    ALTER TEXT SEARCH CONFIGURATION every_word
        ALTER MAPPING FOR asciiword, asciihword, hword_asciipart, word, hword, hword_part WITH english_stem_all
    """,
    # The hooked letters of Hausa have no decomposition.
    rf"""
    CREATE FUNCTION search_text(text text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT regexp_replace(translate(public.plain(text), '{_HOOKED}', 'bdkybdky'),
                              '{_SEPARATORS}', ' ', 'g')
    $$
    """,
    # A search ignores stop words, unless it has no other word.
    """
    CREATE FUNCTION search_query(terms text) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT CASE WHEN numnode(to_tsquery('pg_catalog.english', lower(terms))) > 0
               THEN to_tsquery('pg_catalog.english', lower(terms)) ELSE to_tsquery('public.every_word', lower(terms)) END
    $$
    """,
    """
    CREATE OR REPLACE FUNCTION words_in(text text) RETURNS SETOF text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT DISTINCT word FROM regexp_split_to_table(search_text(text), ' +') AS word
        WHERE length(word) >= 3 AND octet_length(word) <= 24 AND word !~ '^[0-9]+$'
    $$
    """,
    """
    ALTER TABLE products ADD COLUMN terms tsvector GENERATED ALWAYS AS (
        setweight(to_tsvector('public.every_word'::regconfig, search_text(name)), 'A')
        || setweight(to_tsvector('public.every_word'::regconfig, search_text(category)), 'B')
        || setweight(to_tsvector('public.every_word'::regconfig, search_text(description)), 'D')
    ) STORED
    """,
    # The column is new: the index cannot be built before.
    "CREATE INDEX IF NOT EXISTS products_terms ON products USING gin (terms) WITH (fastupdate = off) "
    "WHERE removed_at IS NULL AND NOT draft",
    """
    CREATE OR REPLACE VIEW shelf AS
    SELECT id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, currency, stock, images, rating_sum,
           rating_count, revision, words, created_at, has_sales, terms
    FROM products
    WHERE removed_at IS NULL AND NOT draft AND vendor_id NOT IN (SELECT id FROM vendors WHERE suspended)
    """,
    """
    INSERT INTO search_words (word) SELECT DISTINCT word FROM products, words_in(name || ' ' || category) AS word
    ORDER BY word ON CONFLICT DO NOTHING
    """,
)


def upgrade() -> None:
    for statement in _UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    op.execute(
        """
        CREATE OR REPLACE FUNCTION words_in(text text) RETURNS SETOF text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT DISTINCT word FROM regexp_split_to_table(plain(text), '[\\x01-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7f]+') AS word
            WHERE length(word) >= 3 AND octet_length(word) <= 24 AND word !~ '^[0-9]+$'
        $$
        """
    )
    op.execute("DROP VIEW shelf")
    op.execute("ALTER TABLE products DROP COLUMN terms")
    op.execute(
        """
        CREATE VIEW shelf AS
        SELECT id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, currency, stock, images,
               rating_sum, rating_count, revision, words, created_at, has_sales
        FROM products
        WHERE removed_at IS NULL AND NOT draft AND vendor_id NOT IN (SELECT id FROM vendors WHERE suspended)
        """
    )
    op.execute("GRANT SELECT ON shelf TO campus_orders_api")
    op.execute("DROP FUNCTION search_query")
    op.execute("DROP FUNCTION search_text")
    op.execute("DROP TEXT SEARCH CONFIGURATION every_word")
    op.execute("DROP TEXT SEARCH DICTIONARY english_stem_all")
