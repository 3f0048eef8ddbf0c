"""Numbers for people (contract section 1.7): of each ticket, and of the orders that messages are about.

Null: placed before orders published the number.
"""

from typing import Final

from alembic import op

from common.migrations.functions import number_rows_v1

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_UPGRADE: Final = (
    "GRANT SELECT (number) ON support_tickets TO campus_notifications_api",
    "ALTER TABLE order_summaries ADD COLUMN number text",
    # With the owner's rights: a caller reads no summaries. Whoever sees an order's id may see its number.
    """
    CREATE FUNCTION number_of_order(searched_order_id uuid) RETURNS text
        LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
        SELECT number FROM order_summaries WHERE order_id = searched_order_id
    $$
    """,
    "REVOKE EXECUTE ON FUNCTION number_of_order FROM public",
    "GRANT EXECUTE ON FUNCTION number_of_order TO campus_notifications_api, campus_notifications_service",
)


def upgrade() -> None:
    number_rows_v1("notifications", "support_tickets", "ticket", "CT")
    for statement in _UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP FUNCTION number_of_order")
    op.execute("ALTER TABLE order_summaries DROP COLUMN number")
    op.execute("ALTER TABLE support_tickets DROP COLUMN number")
    op.execute("DROP FUNCTION new_ticket_number")
