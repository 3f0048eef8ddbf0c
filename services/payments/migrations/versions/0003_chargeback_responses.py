"""The date of a dispute, responses to it, and the kinds of case for settlements and fees.

The SQL is in the file of the same name.
"""

from pathlib import Path

from alembic import op

from common.migrations.functions import execute_file

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_KINDS_BEFORE = (
    "'charge_not_in_book', 'charge_not_at_gateway', 'charge_differs', 'charge_without_escrow', 'refund_not_in_book', "
    "'refund_not_at_gateway', 'refund_differs', 'order_held_without_charge', 'unreadable_at_gateway'"
)


def upgrade() -> None:
    execute_file(Path(__file__).with_suffix(".sql"))


def downgrade() -> None:
    """Fails while there is a response to a dispute, or a case of a new kind."""
    op.execute("ALTER TABLE chargeback_responses ADD CONSTRAINT chargeback_responses_empty CHECK (false)")
    op.execute("DROP TABLE chargeback_responses")
    op.execute("ALTER TABLE chargebacks DROP COLUMN due_at, DROP COLUMN due_alerted_at, DROP COLUMN responded_at")
    op.execute(
        "ALTER TABLE reconciliation_cases DROP CONSTRAINT reconciliation_cases_kind_known, "
        f"ADD CONSTRAINT reconciliation_cases_kind_known CHECK (kind IN ({_KINDS_BEFORE})) NOT VALID"
    )
    op.execute("ALTER TABLE reconciliation_cases VALIDATE CONSTRAINT reconciliation_cases_kind_known")
