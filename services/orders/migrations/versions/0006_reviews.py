"""Reviews of vendors and products.

The buyer of a delivered order may write one of its vendor and one of each of its products: the policy asks the order itself, the
indexes allow no second one. Ratings are kept in step by the database, whoever writes: a posted review counts, a hidden one does not.
"""

from alembic import op

from common.migrations.functions import grant_api_v1

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_TABLE = (
    """
    CREATE TABLE reviews (
        id uuid PRIMARY KEY,
        order_id uuid NOT NULL,
        buyer_id uuid NOT NULL,
        vendor_id uuid NOT NULL,
        product_id uuid,
        rating smallint NOT NULL,
        text text NOT NULL,
        created_at timestamptz NOT NULL,
        hidden_at timestamptz,
        hidden_by uuid,
        hidden_because text,
        CONSTRAINT reviews_order FOREIGN KEY (order_id) REFERENCES orders (id),
        CONSTRAINT reviews_rating_1_to_5 CHECK (rating BETWEEN 1 AND 5),
        CONSTRAINT reviews_hidden_by_somebody_for_a_reason CHECK (
            (hidden_at IS NULL) = (hidden_by IS NULL) AND (hidden_at IS NULL) = (hidden_because IS NULL)
        )
    )
    """,
    "CREATE UNIQUE INDEX reviews_one_of_the_vendor ON reviews (order_id) WHERE product_id IS NULL",
    "CREATE UNIQUE INDEX reviews_one_of_each_product ON reviews (order_id, product_id) WHERE product_id IS NOT NULL",
    "CREATE INDEX reviews_newest_of_vendor ON reviews (vendor_id, created_at, id) WHERE product_id IS NULL",
    "CREATE INDEX reviews_newest_of_product ON reviews (product_id, created_at, id) WHERE product_id IS NOT NULL",
    "CREATE INDEX reviews_newest ON reviews (created_at, id)",
)

# A review touches one rated row only: two reviews of one product wait for each other, and nobody waits in a circle.
_RATINGS = (
    "ALTER TABLE vendors ADD COLUMN rating_sum bigint NOT NULL DEFAULT 0, ADD COLUMN rating_count integer NOT NULL DEFAULT 0",
    """
    CREATE FUNCTION keep_rating() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    DECLARE
        counted integer := (NEW.hidden_at IS NULL)::integer;
        change integer := counted;
    BEGIN
        IF TG_OP = 'UPDATE' THEN
            change := counted - (OLD.hidden_at IS NULL)::integer;
        END IF;
        IF change = 0 THEN
            RETURN NULL;
        END IF;
        IF NEW.product_id IS NULL THEN
            UPDATE vendors SET rating_sum = rating_sum + change * NEW.rating, rating_count = rating_count + change
            WHERE id = NEW.vendor_id;
        ELSE
            UPDATE products SET rating_sum = rating_sum + change * NEW.rating, rating_count = rating_count + change
            WHERE id = NEW.product_id;
        END IF;
        RETURN NULL;
    END
    $$
    """,
    "REVOKE EXECUTE ON FUNCTION keep_rating FROM public",
    """
    CREATE TRIGGER reviews_keep_rating AFTER INSERT OR UPDATE OF hidden_at ON reviews
    FOR EACH ROW EXECUTE FUNCTION keep_rating()
    """,
)

_POLICIES = (
    "CREATE POLICY reviews_shown ON reviews FOR SELECT "
    "USING (hidden_at IS NULL OR buyer_id = app_user_id() OR app_may('reviews:read'))",
    """
    CREATE POLICY reviews_by_the_buyer_of_a_delivered_order ON reviews FOR INSERT WITH CHECK (
        buyer_id = app_user_id() AND app_may('orders:place') AND hidden_at IS NULL
        AND EXISTS (
            SELECT FROM orders
            WHERE orders.id = reviews.order_id AND orders.buyer_id = app_user_id()
              AND orders.vendor_id = reviews.vendor_id AND (orders.delivered_at IS NOT NULL OR orders.status = 'paid')
        )
        AND (product_id IS NULL OR EXISTS (
            SELECT FROM order_items AS item
            WHERE item.order_id = reviews.order_id AND item.product_id = reviews.product_id
        ))
    )
    """,
    "CREATE POLICY reviews_moderated ON reviews FOR UPDATE USING (app_may('reviews:moderate'))",
)


def upgrade() -> None:
    for statement in (*_TABLE, *_RATINGS):
        op.execute(statement)
    grant_api_v1("orders", "reviews", "SELECT, INSERT, UPDATE (hidden_at, hidden_by, hidden_because)")
    for statement in _POLICIES:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP TABLE reviews")
    op.execute("DROP FUNCTION keep_rating")
    op.execute("ALTER TABLE vendors DROP COLUMN rating_sum, DROP COLUMN rating_count")
