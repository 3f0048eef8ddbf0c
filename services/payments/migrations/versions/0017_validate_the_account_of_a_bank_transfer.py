"""Validate the constraints of the account of a payment by bank transfer."""

from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    for name in ("payment_intents_account_whole", "payment_intents_transfer_above_zero"):
        op.execute(f"ALTER TABLE payment_intents VALIDATE CONSTRAINT {name}")


def downgrade() -> None:
    """Keep the constraints, which 0016 removes."""
