"""Add what a quarantined payment received, which its buyer is shown."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.add_column("payment_intents", sa.Column("received_minor", sa.BigInteger(), nullable=True))
    op.execute(
        "ALTER TABLE payment_intents ADD CONSTRAINT payment_intents_received_above_zero CHECK (received_minor > "
        "0) NOT VALID"
    )
    op.execute("GRANT UPDATE (received_minor) ON payment_intents TO campus_payments_service")


def downgrade() -> None:
    op.drop_constraint("payment_intents_received_above_zero", "payment_intents")
    op.drop_column("payment_intents", "received_minor")
