"""Payments signs what it released to each vendor: a number without gaps for each statement.

Revision ID: 0012
"""

from alembic import op

from common.migrations.functions import grant_api_v1

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

SERVICE = "payments"
# Whoever releases escrow by hand acts under row policies, and signs in the same transaction.
_RELEASES = "app_may('escrow:release')"


def upgrade() -> None:
    # `key_id`: with which key the newest statement was signed. Vendors without a row, or under another key, get one by the worker.
    op.execute(
        """
        CREATE TABLE vendor_statements (
            vendor_id uuid PRIMARY KEY,
            sequence bigint NOT NULL CONSTRAINT vendor_statements_counts_from_one CHECK (sequence >= 1),
            key_id text NOT NULL
        )
        """
    )
    grant_api_v1(SERVICE, "vendor_statements", "SELECT, INSERT, UPDATE")
    for verb, clause in (("SELECT", "USING"), ("INSERT", "WITH CHECK"), ("UPDATE", "USING")):
        name = f"vendor_statements_{verb.lower()}"
        op.execute(f"CREATE POLICY {name} ON vendor_statements FOR {verb} {clause} ({_RELEASES})")
    op.execute(
        "CREATE POLICY ledger_balances_of_vendors_signed ON ledger_balances FOR SELECT "
        f"USING ({_RELEASES} AND account LIKE 'vendor\\_payable:%')"
    )
    op.execute(
        "CREATE INDEX IF NOT EXISTS ledger_balances_of_vendors ON ledger_balances (account) "
        "WHERE account LIKE 'vendor\\_payable:%'"
    )


def downgrade() -> None:
    op.execute("DROP INDEX ledger_balances_of_vendors")
    op.execute("DROP POLICY ledger_balances_of_vendors_signed ON ledger_balances")
    op.execute("DROP TABLE vendor_statements")
