"""Unread counts and live updates of the feed.

Revision ID: 0005
"""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_STATEMENTS = (
    # The last place that was given in the feed of a user. Its row is locked until the line is committed, so that the lines of
    # a feed are seen in the order of their places: whoever has read up to one place has missed nothing before it.
    """
    CREATE TABLE feeds (
        user_id uuid PRIMARY KEY,
        last bigint NOT NULL
    )
    """,
    "ALTER TABLE feeds ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE notifications ADD COLUMN place bigint",
    """
    UPDATE notifications n SET place = told.place
    FROM (
        SELECT id, row_number() OVER (PARTITION BY user_id ORDER BY created_at, id) AS place
        FROM notifications WHERE title IS NOT NULL
    ) told
    WHERE told.id = n.id
    """,
    "INSERT INTO feeds (user_id, last) SELECT user_id, max(place) FROM notifications WHERE place IS NOT NULL GROUP BY user_id",
    "ALTER TABLE notifications ADD CONSTRAINT notifications_place_in_feed CHECK ((title IS NULL) = (place IS NULL))",
    "CREATE UNIQUE INDEX notifications_places ON notifications (user_id, place) WHERE place IS NOT NULL",
    """
    CREATE INDEX notifications_unread ON notifications (user_id, created_at DESC, id DESC)
    WHERE title IS NOT NULL AND read_at IS NULL
    """,
)


def upgrade() -> None:
    for statement in _STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP INDEX notifications_unread, notifications_places")
    op.execute("ALTER TABLE notifications DROP COLUMN place")
    op.execute("DROP TABLE feeds")
