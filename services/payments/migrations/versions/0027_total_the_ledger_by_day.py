"""Total the ledger by day."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    op.create_table(
        "ledger_totals",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("currency", sa.CHAR(length=3), nullable=False),
        sa.Column("accounts", sa.BigInteger(), nullable=False),
        sa.Column("debit_minor", sa.BigInteger(), nullable=False),
        sa.Column("credit_minor", sa.BigInteger(), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "accounts >= 0 AND debit_minor >= 0 AND credit_minor >= 0", name="ledger_totals_not_below_zero"
        ),
        sa.PrimaryKeyConstraint("day", "kind", "currency"),
    )
    op.execute("GRANT SELECT ON ledger_totals TO campus_payments_api")
    op.execute("GRANT SELECT (sequence, transaction_id) ON ledger_links TO campus_payments_api")
    op.execute("GRANT SELECT (transaction_id) ON ledger_unsealed TO campus_payments_api")
    for table in ("ledger_totals", "ledger_links", "ledger_unsealed"):
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"""
            CREATE POLICY {table}_visible ON {table} FOR SELECT USING ((SELECT app_may('ledger:read')))
        """)


def downgrade() -> None:
    op.drop_table("ledger_totals")
    for table, columns in (("ledger_links", "sequence, transaction_id"), ("ledger_unsealed", "transaction_id")):
        op.execute(f"REVOKE SELECT ({columns}) ON {table} FROM campus_payments_api")
        op.execute(f"DROP POLICY {table}_visible ON {table}")
        op.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")
