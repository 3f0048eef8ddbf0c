"""The gateway's fee of each transfer, and the gateway's own list of banks."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Null: the gateway has not reported a fee.
    op.execute("ALTER TABLE payout_transfers ADD COLUMN fee bigint")
    op.execute("GRANT UPDATE (fee) ON payout_transfers TO campus_payouts_service")
    # Replaced once a day by the worker. Empty: the shipped list applies.
    op.execute(
        """
        CREATE TABLE gateway_banks (
            gateway text NOT NULL,
            code text NOT NULL,
            name text NOT NULL,
            listed_at timestamptz NOT NULL,
            CONSTRAINT gateway_banks_pkey PRIMARY KEY (gateway, code)
        )
        """
    )
    op.execute("ALTER TABLE gateway_banks ENABLE ROW LEVEL SECURITY")
    op.execute("GRANT SELECT ON gateway_banks TO campus_payouts_api")
    # The names of banks are public.
    op.execute("CREATE POLICY gateway_banks_select ON gateway_banks FOR SELECT TO campus_payouts_api USING (true)")


def downgrade() -> None:
    """Fails while a transfer has a fee: the ledger has its posting."""
    op.execute("ALTER TABLE payout_transfers ADD CONSTRAINT payout_transfers_without_fee CHECK (fee IS NULL)")
    op.execute("ALTER TABLE payout_transfers DROP COLUMN fee")
    op.execute("DROP TABLE gateway_banks")
