"""The part of open chargebacks that the wallet does not hold, for those opened before revision 0008 (contract section 8).

The same figure as `plan_holds` gives while nothing is available. Without it a payout of disputed money was sent until
the vendor's next credit.
"""

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

FILL = """
UPDATE chargebacks AS c SET uncovered_minor = at_stake.uncovered_minor
FROM (
    SELECT id, greatest(0, least(vendor_minor, of_order_minor - earlier_minor) - held_minor)::bigint AS uncovered_minor
    FROM (
        SELECT o.id, o.vendor_minor, o.held_minor,
               least(
                   (SELECT coalesce(sum(line.net_minor), 0) FROM wallet_lines AS line
                    WHERE line.vendor_id = o.vendor_id AND line.order_id = o.order_id
                      AND line.kind IN ('release', 'refund', 'chargeback', 'chargeback_won')),
                   sum(o.vendor_minor) OVER (PARTITION BY o.vendor_id, o.order_id)
                   - coalesce((SELECT remaining_vendor_minor FROM order_shares WHERE order_id = o.order_id), 0)
               ) AS of_order_minor,
               sum(o.vendor_minor) OVER (PARTITION BY o.vendor_id, o.order_id ORDER BY o.id) - o.vendor_minor AS earlier_minor
        FROM chargebacks AS o WHERE o.status = 'opened'
    ) AS opened
) AS at_stake
WHERE at_stake.id = c.id AND c.status = 'opened' AND c.uncovered_minor <> at_stake.uncovered_minor
"""


def upgrade() -> None:
    op.execute(FILL)


def downgrade() -> None:
    """Do nothing: the column stays true without this revision."""
