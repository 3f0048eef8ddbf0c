"""Gross, commission and delivery fee of the lines that take released money back (contract section 8.1).

Lines from before have a net amount only. They get the parts in proportion to the releases of their order, as the money
was divided then, and are marked as estimated. A line of the version before, which still serves, has no commission.
"""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

ESTIMATE = """
UPDATE wallet_lines AS line SET
    gross_minor = line.net_minor + parts.commission_minor + parts.delivery_fee_minor,
    commission_minor = parts.commission_minor, delivery_fee_minor = parts.delivery_fee_minor, estimated = true
FROM (
    SELECT reversal.position,
           coalesce(round(reversal.net_minor * released.commission / nullif(released.net, 0)), 0)::bigint AS commission_minor,
           coalesce(round(reversal.net_minor * released.fee / nullif(released.net, 0)), 0)::bigint AS delivery_fee_minor
    FROM wallet_lines AS reversal LEFT JOIN (
        SELECT vendor_id, order_id, sum(net_minor) AS net, sum(commission_minor) AS commission, sum(delivery_fee_minor) AS fee
        FROM wallet_lines WHERE kind = 'release' GROUP BY vendor_id, order_id
    ) AS released USING (vendor_id, order_id)
    WHERE reversal.kind IN ('refund', 'chargeback', 'chargeback_won') AND reversal.commission_minor IS NULL
) AS parts
WHERE parts.position = line.position
"""


def upgrade() -> None:
    op.execute("ALTER TABLE wallet_lines ADD COLUMN estimated boolean NOT NULL DEFAULT false")
    op.execute(ESTIMATE)
    op.execute(
        "ALTER TABLE wallet_lines ADD CONSTRAINT wallet_lines_parts_add_up CHECK "
        "(coalesce(gross_minor - commission_minor - delivery_fee_minor = net_minor, commission_minor IS NULL)) NOT VALID"
    )
    op.execute("ALTER TABLE wallet_lines VALIDATE CONSTRAINT wallet_lines_parts_add_up")


def downgrade() -> None:
    op.execute("ALTER TABLE wallet_lines DROP CONSTRAINT wallet_lines_parts_add_up")
    op.execute("ALTER TABLE wallet_lines DROP COLUMN estimated")
