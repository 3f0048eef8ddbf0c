"""A recovered transfer that came back to the gateway is given back to its vendor.

Revision ID: 0012
"""

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_LINES = (
    "'release', 'debt_repaid', 'refund', 'debt_taken', 'payout', 'hold', 'hold_released', 'chargeback', 'chargeback_won', "
    "'restitution', 'reversal', 'recovery'"
)


def upgrade() -> None:
    _lines(f"{_LINES}, 'recovery_returned'", "'restitution', 'reversal', 'recovery', 'recovery_returned'")
    _reconciliations(
        "'restitution', 'reversal', 'recovery', 'recovery_returned'", "kind IN ('recovery', 'recovery_returned')"
    )
    op.execute("DROP INDEX reconciliations_returned_once")
    op.execute("DROP INDEX reconciliations_recovered_once")
    op.execute(
        "CREATE UNIQUE INDEX reconciliations_returned_once ON reconciliations (payout_id) "
        "WHERE status = 'approved' AND transfer_id IS NULL"
    )
    op.execute(
        "CREATE UNIQUE INDEX reconciliations_recovered_once ON reconciliations (transfer_id, kind) WHERE status = 'approved'"
    )


def downgrade() -> None:
    # Where a recovery was returned this stops, and nothing is changed: the older version could not read those books.
    op.execute("DROP INDEX reconciliations_recovered_once")
    op.execute("DROP INDEX reconciliations_returned_once")
    op.execute(
        "CREATE UNIQUE INDEX reconciliations_returned_once ON reconciliations (payout_id) WHERE status = 'approved' AND kind <> 'recovery'"
    )
    op.execute(
        "CREATE UNIQUE INDEX reconciliations_recovered_once ON reconciliations (transfer_id) WHERE status = 'approved'"
    )
    # What was written with the newer kind is history and stays: the older schema takes no new ones.
    _reconciliations("'restitution', 'reversal', 'recovery'", "kind = 'recovery'", " NOT VALID")
    _lines(_LINES, "'restitution', 'reversal', 'recovery'", " NOT VALID")


def _lines(kinds: str, returns: str, checked: str = "") -> None:
    op.execute(
        "ALTER TABLE wallet_lines DROP CONSTRAINT wallet_lines_kind_known, DROP CONSTRAINT wallet_lines_return_names_payout, "
        f"ADD CONSTRAINT wallet_lines_kind_known CHECK (kind IN ({kinds})){checked}, "
        f"ADD CONSTRAINT wallet_lines_return_names_payout CHECK (kind NOT IN ({returns}) OR payout_id IS NOT NULL){checked}"
    )


def _reconciliations(kinds: str, about_a_transfer: str, checked: str = "") -> None:
    op.execute(
        "ALTER TABLE reconciliations DROP CONSTRAINT reconciliations_kind_known, "
        "DROP CONSTRAINT reconciliations_recovery_names_transfer, "
        f"ADD CONSTRAINT reconciliations_kind_known CHECK (kind IN ({kinds})){checked}, "
        "ADD CONSTRAINT reconciliations_recovery_names_transfer "
        f"CHECK (({about_a_transfer}) = (transfer_id IS NOT NULL)){checked}"
    )
