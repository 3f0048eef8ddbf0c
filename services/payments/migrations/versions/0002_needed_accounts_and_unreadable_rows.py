"""Refunds that need the payer's account, and reconciliation cases of rows that cannot be read.

Only additions: new columns without a default, and a check that admits one more kind.
"""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

KINDS = (
    "charge_not_in_book",
    "charge_not_at_gateway",
    "charge_differs",
    "charge_without_escrow",
    "refund_not_in_book",
    "refund_not_at_gateway",
    "refund_differs",
    "order_held_without_charge",
    "unreadable_at_gateway",
)


def upgrade() -> None:
    op.execute("ALTER TABLE refunds ADD COLUMN needs_account_at timestamptz, ADD COLUMN retry_recipient_code text")
    op.execute("GRANT SELECT (needs_account_at) ON refunds TO campus_payments_api")
    op.execute("GRANT UPDATE (needs_account_at, retry_recipient_code) ON refunds TO campus_payments_service")
    # Every row fits already: only the rows of the old kinds exist. The swap is one short lock.
    _allow(KINDS)


def downgrade() -> None:
    """Fails while a case has the new kind."""
    _allow(KINDS[:-1])
    op.execute("ALTER TABLE refunds DROP COLUMN needs_account_at, DROP COLUMN retry_recipient_code")


def _allow(kinds: tuple[str, ...]) -> None:
    listed = ", ".join(f"'{kind}'" for kind in kinds)
    op.execute(
        "ALTER TABLE reconciliation_cases DROP CONSTRAINT reconciliation_cases_kind_known, "
        f"ADD CONSTRAINT reconciliation_cases_kind_known CHECK (kind IN ({listed})) NOT VALID"
    )
    op.execute("ALTER TABLE reconciliation_cases VALIDATE CONSTRAINT reconciliation_cases_kind_known")
