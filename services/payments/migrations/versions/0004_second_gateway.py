"""The gateway that took a payment, a webhook, a charge or a difference; `paystack` for everything before.

A refund goes to the gateway of its charge.
"""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_TABLES = ("payment_intents", "payment_references", "processed_webhook_events", "charges", "reconciliation_cases")


def upgrade() -> None:
    for table in _TABLES:
        op.execute(f"ALTER TABLE {table} ADD COLUMN gateway text NOT NULL DEFAULT 'paystack'")
    # Chosen with the reference, before the call to the gateway.
    op.execute("GRANT UPDATE (gateway) ON payment_intents TO campus_payments_api, campus_payments_service")


def downgrade() -> None:
    """Fails while a row is of the second gateway, which would be taken for the first one's."""
    for table in _TABLES:
        op.execute(f"ALTER TABLE {table} ADD CONSTRAINT {table}_of_the_first_gateway CHECK (gateway = 'paystack')")
        op.execute(f"ALTER TABLE {table} DROP COLUMN gateway")
