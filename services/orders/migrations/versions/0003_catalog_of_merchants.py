"""What merchants write in the catalog, images, and a search that tolerates typos.

The shelf is a view: whoever may see it may see every row of it, so it is read past the row policies of `products`, and no policy
keeps a search from its index. Needs no extension: the words of the catalog stand in a table with their spellings, a word
without any one of its letters, and two words with a spelling in common are one typo apart. Later migrations that replace
`reserve_stock` keep `NOT draft` and the growing revision: what a merchant counted before a sale must not undo the sale.
"""

from alembic import op

from common.migrations.functions import grant_api_v1

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_PRODUCTS = (
    """
    ALTER TABLE products
        ADD draft boolean NOT NULL DEFAULT false,
        ALTER currency SET DEFAULT 'NGN',
        ALTER images SET DEFAULT '[]',
        ALTER rating_sum SET DEFAULT 0,
        ALTER rating_count SET DEFAULT 0,
        ALTER revision SET DEFAULT 1,
        DROP words,
        ADD CONSTRAINT products_images_at_most_8 CHECK (jsonb_array_length(images) <= 8)
    """,
    # A: the name. What the name says of a product is worth more than what its description mentions.
    """
    ALTER TABLE products ADD words tsvector GENERATED ALWAYS AS (
        setweight(to_tsvector('english', name), 'A')
        || setweight(to_tsvector('english', category), 'B')
        || setweight(to_tsvector('english', description), 'D')
    ) STORED
    """,
    # Without a list of pending entries, which each search would read through.
    "CREATE INDEX products_words ON products USING gin (words) WITH (fastupdate = off) WHERE removed_at IS NULL AND NOT draft",
    # What a merchant has, with drafts and what was removed.
    "CREATE INDEX products_own ON products (vendor_id, created_at, id)",
)

# Drafts do not stand in the indexes of the shelf: a thousand of them cost no reader anything.
_SHELF_INDEXES = {
    "products_newest": "created_at, id",
    "products_priced": "price_minor, id",
    "products_newest_of_vendor": "vendor_id, created_at, id",
    "products_newest_of_category": "category, created_at, id",
    "products_priced_of_category": "category, price_minor, id",
    "products_newest_of_campus": "campus_id, created_at, id",
}

# What a suspended vendor sells is not on the shelf. Their ids are read once for a statement: nearly always there is none.
_SHELF = """
CREATE VIEW shelf AS
SELECT id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, currency, stock, images,
       rating_sum, rating_count, revision, words, created_at
FROM products
WHERE removed_at IS NULL AND NOT draft AND vendor_id NOT IN (SELECT vendors.id FROM vendors WHERE vendors.suspended)
"""

_WORDS = (
    # ASCII is split at whatever is no letter and no digit; every other character belongs to its word.
    """
    CREATE FUNCTION words_in(text text) RETURNS SETOF text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT DISTINCT word FROM regexp_split_to_table(lower(text), '[\\x01-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7f]+') AS word
        WHERE length(word) >= 3 AND octet_length(word) <= 24 AND word !~ '^[0-9]+$'
    $$
    """,
    """
    CREATE FUNCTION spellings_of(word text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT array_agg(DISTINCT spelling) FROM (
            SELECT word AS spelling
            UNION ALL
            SELECT left(word, place - 1) || substr(word, place + 1) FROM generate_series(1, length(word)) AS place
        ) AS spellings
    $$
    """,
    """
    CREATE TABLE search_words (
        word text COLLATE "C" PRIMARY KEY,
        spellings text[] NOT NULL GENERATED ALWAYS AS (spellings_of(word)) STORED
    )
    """,
    "CREATE INDEX search_words_spelled ON search_words USING gin (spellings) WITH (fastupdate = off)",
    "INSERT INTO search_words (word) SELECT DISTINCT word FROM products, words_in(name || ' ' || category) AS word",
)

_RESERVE_STOCK = """
CREATE OR REPLACE FUNCTION reserve_stock(product_ids uuid[], quantities integer[], prices_minor bigint[])
RETURNS TABLE (product_id uuid, stock_left integer)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH locked AS MATERIALIZED (
        SELECT product.id, wanted.quantity
        FROM unnest(product_ids, quantities, prices_minor) AS wanted (id, quantity, price_minor)
        JOIN products AS product ON product.id = wanted.id
        WHERE wanted.quantity > 0 AND product.stock >= wanted.quantity
          AND product.price_minor = wanted.price_minor AND product.removed_at IS NULL{not_draft}
        ORDER BY product.id FOR NO KEY UPDATE OF product
    )
    UPDATE products AS product SET stock = product.stock - locked.quantity{next_revision}
    FROM locked
    WHERE product.id = locked.id AND (SELECT count(*) FROM locked) = cardinality(product_ids)
    RETURNING product.id, product.stock
$$
"""

_OWN = "vendor_id = app_vendor_id() AND app_may('catalog:own')"
_POLICIES = (
    "ALTER POLICY products_on_the_shelf ON products "
    "USING ((removed_at IS NULL AND NOT draft) OR vendor_id = app_vendor_id())",
    f"CREATE POLICY products_written_by_their_vendor ON products FOR INSERT WITH CHECK ({_OWN})",
    f"CREATE POLICY products_changed_by_their_vendor ON products FOR UPDATE USING ({_OWN}) WITH CHECK ({_OWN})",
    "CREATE POLICY search_words_known ON search_words FOR SELECT USING (true)",
    "CREATE POLICY search_words_of_merchants ON search_words FOR INSERT WITH CHECK (app_may('catalog:own'))",
)


def upgrade() -> None:
    for statement in (*_PRODUCTS, _SHELF, *_WORDS):
        op.execute(statement)
    _index_the_shelf("removed_at IS NULL AND NOT draft")
    op.execute(
        _RESERVE_STOCK.format(not_draft=" AND NOT product.draft", next_revision=", revision = product.revision + 1")
    )
    op.execute("GRANT SELECT ON shelf TO campus_orders_api")
    # Not the ratings, which reviews keep; not the vendor, which a product never leaves.
    op.execute(
        "GRANT INSERT (id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, stock, draft, "
        "created_at, updated_at), UPDATE (name, description, category, price_minor, stock, images, draft, revision, "
        "updated_at, removed_at) ON products TO campus_orders_api"
    )
    grant_api_v1("orders", "search_words", "SELECT (word, spellings), INSERT (word)")
    for statement in _POLICIES:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP POLICY products_written_by_their_vendor ON products")
    op.execute("DROP POLICY products_changed_by_their_vendor ON products")
    op.execute(
        "ALTER POLICY products_on_the_shelf ON products USING (removed_at IS NULL OR vendor_id = app_vendor_id())"
    )
    op.execute(
        "REVOKE INSERT (id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, stock, draft, "
        "created_at, updated_at), UPDATE (name, description, category, price_minor, stock, images, draft, revision, "
        "updated_at, removed_at) ON products FROM campus_orders_api"
    )
    op.execute(_RESERVE_STOCK.format(not_draft="", next_revision=""))
    op.execute("DROP TABLE search_words")
    op.execute("DROP FUNCTION spellings_of")
    op.execute("DROP FUNCTION words_in")
    op.execute("DROP VIEW shelf")
    op.execute("DROP INDEX products_own")
    # Nobody shall find on the shelf what was never put there.
    op.execute("UPDATE products SET removed_at = updated_at WHERE draft AND removed_at IS NULL")
    _index_the_shelf("removed_at IS NULL")
    op.execute("ALTER TABLE products DROP words, DROP CONSTRAINT products_images_at_most_8, DROP draft")
    op.execute(
        "ALTER TABLE products ADD words tsvector "
        "GENERATED ALWAYS AS (to_tsvector('english', name || ' ' || category || ' ' || description)) STORED"
    )


def _index_the_shelf(which: str) -> None:
    for name, columns in _SHELF_INDEXES.items():
        op.execute(f"DROP INDEX {name}")
        op.execute(f"CREATE INDEX {name} ON products ({columns}) WHERE {which}")
