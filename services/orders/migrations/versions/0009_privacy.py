"""People who leave.

Whoever wants to be erased begins nothing new from the moment in which it was judged that nothing is under way: the trigger refuses,
and the lock that it shares with that judgement leaves no gap between the two. Who is gone stays listed by id, for ever.
"""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_LEAVING = (
    """
    CREATE TABLE leaving_people (
        user_id uuid PRIMARY KEY,
        vendor_id uuid,
        standing text NOT NULL,
        sequence bigint NOT NULL,
        CONSTRAINT leaving_people_standing_known CHECK (standing IN ('stays', 'leaves', 'gone'))
    )
    """,
    "CREATE INDEX leaving_people_vendor ON leaving_people (vendor_id) WHERE vendor_id IS NOT NULL",
    "ALTER TABLE leaving_people ENABLE ROW LEVEL SECURITY",
    "CREATE INDEX return_requests_of_buyer ON return_requests (buyer_id)",
    "CREATE INDEX reviews_of_buyer ON reviews (buyer_id)",
)

# The API role sees nobody of those who leave, hence the owner's rights.
_REFUSALS = (
    """
    CREATE FUNCTION refuse_leaving_buyer() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock_shared(hashtextextended('leaving:' || NEW.buyer_id, 0));
        IF EXISTS (SELECT FROM leaving_people WHERE user_id = NEW.buyer_id AND standing <> 'stays') THEN
            RAISE EXCEPTION 'this buyer leaves' USING ERRCODE = 'check_violation', CONSTRAINT = 'nobody_who_leaves';
        END IF;
        RETURN NULL;
    END
    $$
    """,
    """
    CREATE FUNCTION refuse_leaving_vendor() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock_shared(hashtextextended('leaving:' || NEW.vendor_id, 0));
        IF EXISTS (SELECT FROM leaving_people WHERE vendor_id = NEW.vendor_id AND standing <> 'stays') THEN
            RAISE EXCEPTION 'this vendor leaves' USING ERRCODE = 'check_violation', CONSTRAINT = 'nobody_who_leaves';
        END IF;
        RETURN NULL;
    END
    $$
    """,
    "REVOKE EXECUTE ON FUNCTION refuse_leaving_buyer, refuse_leaving_vendor FROM public",
)

_WATCHED = (
    ("buyer", "orders"),
    ("buyer", "cart_items"),
    ("buyer", "reviews"),
    ("buyer", "return_requests"),
    ("vendor", "orders"),
    ("vendor", "products"),
)


def upgrade() -> None:
    for statement in (*_LEAVING, *_REFUSALS):
        op.execute(statement)
    for party, table in _WATCHED:
        op.execute(
            f"CREATE TRIGGER {table}_refuse_leaving_{party} AFTER INSERT ON {table} "
            f"FOR EACH ROW EXECUTE FUNCTION refuse_leaving_{party}()"
        )


def downgrade() -> None:
    for party, table in _WATCHED:
        op.execute(f"DROP TRIGGER {table}_refuse_leaving_{party} ON {table}")
    op.execute("DROP FUNCTION refuse_leaving_buyer, refuse_leaving_vendor")
    op.execute("DROP INDEX return_requests_of_buyer, reviews_of_buyer")
    op.execute("DROP TABLE leaving_people")
