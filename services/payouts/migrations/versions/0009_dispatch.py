"""A batch tells what it left waiting, an attempt its last call that may still arrive; a vendor may cancel a payout.

Revision ID: 0009
"""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE dispatch_batches ADD COLUMN remaining integer NOT NULL DEFAULT 0")
    op.execute("ALTER TABLE payout_transfers ADD COLUMN called_at timestamptz")
    # Of an older attempt nobody knows when its calls ended: its last change is not before them.
    op.execute("UPDATE payout_transfers SET called_at = updated_at WHERE status IN ('submitting', 'unknown')")
    # What arrived not long ago is looked at again too.
    op.execute(
        "UPDATE payout_transfers AS t SET due_at = p.processed_at + interval '7 days' FROM payout_requests AS p "
        "WHERE p.id = t.payout_id AND t.status = 'success' AND t.due_at IS NULL AND p.processed_at > now() - interval '7 days'"
    )
    _restate_acts(", 'cancelled'")


def downgrade() -> None:
    # What was cancelled is history and stays: the older schema takes no new one.
    _restate_acts("", checked=" NOT VALID")
    op.execute("UPDATE payout_transfers SET due_at = NULL WHERE status = 'success'")
    op.execute("ALTER TABLE payout_transfers DROP COLUMN called_at")
    op.execute("ALTER TABLE dispatch_batches DROP COLUMN remaining")


def _restate_acts(more: str, checked: str = "") -> None:
    op.execute(
        "ALTER TABLE payout_acts DROP CONSTRAINT payout_acts_act_known, DROP CONSTRAINT payout_acts_of_reconciliation, "
        f"ADD CONSTRAINT payout_acts_act_known CHECK (act IN ('reset', 'prepared', 'approved', 'rejected'{more})){checked}, "
        f"ADD CONSTRAINT payout_acts_of_reconciliation CHECK ((act IN ('reset'{more})) = (reconciliation_id IS NULL)){checked}"
    )
