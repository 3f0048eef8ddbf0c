"""Validate the constraint of what a quarantined payment received."""

from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.execute("ALTER TABLE payment_intents VALIDATE CONSTRAINT payment_intents_received_above_zero")


def downgrade() -> None:
    """Keep the constraint, which 0019 removes."""
