"""Staff see of which charge a refund is: a chargeback of a second charge is found with its order."""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("GRANT SELECT (charge_id) ON refunds TO campus_payments_api")


def downgrade() -> None:
    op.execute("REVOKE SELECT (charge_id) ON refunds FROM campus_payments_api")
