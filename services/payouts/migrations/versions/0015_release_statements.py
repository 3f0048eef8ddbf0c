"""What payments signed of each vendor is kept, and a vendor whose wallet received something else has an exception of its own.

Revision ID: 0015
"""

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

_LINES = (
    "'release', 'debt_repaid', 'refund', 'debt_taken', 'payout', 'hold', 'hold_released', 'chargeback', 'chargeback_won', "
    "'restitution', 'reversal', 'recovery', 'recovery_returned'"
)
_OF_PAYOUT_OR_BATCH = "(payout_id IS NULL) <> (batch_id IS NULL)"
_OF_ONE = "num_nonnulls(payout_id, batch_id) = 1 OR (num_nonnulls(payout_id, batch_id, transfer_id) = 0 AND vendor_id IS NOT NULL)"


def upgrade() -> None:
    # As they came, unverified: they are verified each time before money leaves. `line_key` names the line that the same event made.
    op.execute(
        """
        CREATE TABLE release_statements (
            vendor_id uuid NOT NULL,
            sequence bigint NOT NULL CONSTRAINT release_statements_counts_from_one CHECK (sequence >= 1),
            signature text NOT NULL,
            source text NOT NULL,
            line_key text,
            amount_minor bigint NOT NULL,
            net_minor bigint NOT NULL,
            key_id text NOT NULL,
            received_at timestamptz NOT NULL,
            PRIMARY KEY (vendor_id, sequence, signature)
        )
        """
    )
    op.execute("CREATE INDEX release_statements_of_line ON release_statements (line_key)")
    # Lines up to this one are from before there were statements. In a new system there is none.
    op.execute(
        """
        CREATE TABLE release_statements_begin (
            only_one boolean PRIMARY KEY DEFAULT true CONSTRAINT release_statements_begin_only_one CHECK (only_one),
            last_line bigint NOT NULL,
            began_at timestamptz NOT NULL
        )
        """
    )
    op.execute(
        "INSERT INTO release_statements_begin (last_line, began_at) SELECT coalesce(max(position), 0), now() FROM wallet_lines"
    )
    _kinds(f"{_LINES}, 'correction'")
    _subjects(_OF_ONE)
    # The rows are looked at under a lock that lets the old code read and write.
    op.execute("ALTER TABLE wallet_lines VALIDATE CONSTRAINT wallet_lines_kind_known")
    op.execute("ALTER TABLE payout_exceptions VALIDATE CONSTRAINT payout_exceptions_of_payout_or_batch")
    op.execute(
        "CREATE UNIQUE INDEX IF NOT EXISTS payout_exceptions_one_live_of_vendor ON payout_exceptions (vendor_id) "
        "WHERE status = 'open' AND payout_id IS NULL AND batch_id IS NULL"
    )


def downgrade() -> None:
    op.execute("DROP INDEX payout_exceptions_one_live_of_vendor")
    # What was written under the wider rules is history and stays.
    _subjects(_OF_PAYOUT_OR_BATCH)
    _kinds(_LINES)
    op.execute("DROP TABLE release_statements_begin")
    op.execute("DROP TABLE release_statements")


def _kinds(kinds: str) -> None:
    op.execute(
        "ALTER TABLE wallet_lines DROP CONSTRAINT wallet_lines_kind_known, "
        f"ADD CONSTRAINT wallet_lines_kind_known CHECK (kind IN ({kinds})) NOT VALID"
    )


def _subjects(rule: str) -> None:
    op.execute(
        "ALTER TABLE payout_exceptions DROP CONSTRAINT payout_exceptions_of_payout_or_batch, "
        f"ADD CONSTRAINT payout_exceptions_of_payout_or_batch CHECK ({rule}) NOT VALID"
    )
