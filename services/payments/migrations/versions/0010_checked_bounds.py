"""The rules that 0009 added are checked against the rows that were there before, without holding up who writes.

Revision ID: 0010
"""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table, constraint in (
        ("charges", "charges_surcharge_within_bound"),
        ("payment_intents", "payment_intents_status_known"),
        ("payment_intents", "payment_intents_failure_has_words"),
    ):
        op.execute(f"ALTER TABLE {table} VALIDATE CONSTRAINT {constraint}")


def downgrade() -> None:
    """A checked rule stays as it is: 0009 takes it away."""
