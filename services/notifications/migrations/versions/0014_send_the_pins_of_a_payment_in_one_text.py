"""Send the PINs of a payment in one text."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

# Its result keeps its form: the version before calls it too.
_WITH_TEXTS = """
CREATE OR REPLACE FUNCTION notifications_of_order(wanted_order_id uuid) RETURNS SETOF uuid
    LANGUAGE sql STABLE ROWS 20 SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT found.id FROM (
        SELECT id FROM notifications WHERE subject ->> 'orderId' = wanted_order_id::text
        UNION ALL
        SELECT text_id FROM pin_watches WHERE order_id = wanted_order_id AND text_id IS NOT NULL
    ) AS found
    WHERE app_may('delivery_logs:read') OR app_may('notifications:resend')
$$;
"""
_WITHOUT_TEXTS = """
CREATE OR REPLACE FUNCTION notifications_of_order(wanted_order_id uuid) RETURNS SETOF uuid
    LANGUAGE sql STABLE ROWS 20 SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT id FROM notifications
    WHERE subject ->> 'orderId' = wanted_order_id::text
      AND (app_may('delivery_logs:read') OR app_may('notifications:resend'))
$$;
"""


def upgrade() -> None:
    op.add_column("pin_watches", sa.Column("text_id", sa.Uuid(), nullable=True))
    op.execute(_WITH_TEXTS)


def downgrade() -> None:
    op.execute(_WITHOUT_TEXTS)
    op.drop_column("pin_watches", "text_id")
