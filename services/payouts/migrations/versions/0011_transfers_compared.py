"""Nothing is sent by a database that was put back, before the gateway's transfers were compared with its books.

Revision ID: 0011
"""

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # `place`: which history of which server this was written in. A server that was put back at an earlier instant begins another one.
    op.execute(
        """
        CREATE TABLE transfer_comparison (
            only_one boolean PRIMARY KEY DEFAULT true CONSTRAINT transfer_comparison_only_one CHECK (only_one),
            place text NOT NULL,
            compared_until timestamptz NOT NULL,
            due_at timestamptz
        )
        """
    )
    op.execute(
        "INSERT INTO transfer_comparison (place, compared_until) "
        "SELECT system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8), now() FROM pg_control_system()"
    )
    op.execute(
        """
        CREATE TABLE found_transfers (
            reference text PRIMARY KEY,
            transfer_code text,
            status text NOT NULL,
            amount bigint NOT NULL,
            currency text NOT NULL,
            account_last4 text NOT NULL,
            bank_code text NOT NULL,
            created_at timestamptz NOT NULL,
            found_at timestamptz NOT NULL,
            outcome text NOT NULL CONSTRAINT found_transfers_outcome_known CHECK (outcome IN ('open', 'taken', 'explained')),
            payout_id uuid CONSTRAINT found_transfers_payout REFERENCES payout_requests (id),
            evidence text,
            CONSTRAINT found_transfers_taken_names_payout CHECK ((outcome = 'taken') = (payout_id IS NOT NULL)),
            CONSTRAINT found_transfers_explained_says_why CHECK ((outcome = 'explained') = (evidence IS NOT NULL))
        )
        """
    )
    op.execute("CREATE INDEX found_transfers_open ON found_transfers (found_at) WHERE outcome = 'open'")


def downgrade() -> None:
    op.execute("DROP TABLE found_transfers")
    op.execute("DROP TABLE transfer_comparison")
