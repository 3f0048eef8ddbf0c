"""Find the messages of an order, for its timeline."""

from typing import Final

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_UPGRADE: Final = (
    # For its readers, see `notifications_of_order`. Notifications of earlier versions have no subject.
    "CREATE INDEX IF NOT EXISTS notifications_of_order ON notifications ((subject ->> 'orderId')) "
    "WHERE subject ->> 'orderId' IS NOT NULL",
    # With the owner's rights: no caller reads the notifications of others. Only their ids, for readers of delivery logs.
    """
    CREATE FUNCTION notifications_of_order(wanted_order_id uuid) RETURNS SETOF uuid
        LANGUAGE sql STABLE ROWS 20 SECURITY DEFINER SET search_path = public, pg_temp AS $$
        SELECT id FROM notifications
        WHERE subject ->> 'orderId' = wanted_order_id::text
          AND (app_may('delivery_logs:read') OR app_may('notifications:resend'))
    $$
    """,
    "REVOKE EXECUTE ON FUNCTION notifications_of_order FROM public",
    "GRANT EXECUTE ON FUNCTION notifications_of_order TO campus_notifications_api",
)


def upgrade() -> None:
    for statement in _UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP FUNCTION notifications_of_order")
    op.execute("DROP INDEX notifications_of_order")
