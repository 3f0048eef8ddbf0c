"""The gateway's fee of each transfer that pays a refund.

Only additions: new columns without a default.
"""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_TABLES = ("refunds", "failed_refund_attempts")


def upgrade() -> None:
    for table in _TABLES:
        # Null: the gateway has not reported a fee.
        op.execute(f"ALTER TABLE {table} ADD COLUMN transfer_fee_minor bigint")
        op.execute(f"GRANT UPDATE (transfer_fee_minor) ON {table} TO campus_payments_service")


def downgrade() -> None:
    """Fails while an attempt has a fee: the ledger has its posting."""
    for table in _TABLES:
        op.execute(f"ALTER TABLE {table} ADD CONSTRAINT {table}_without_fee CHECK (transfer_fee_minor IS NULL)")
        op.execute(f"ALTER TABLE {table} DROP COLUMN transfer_fee_minor")
