"""Count the refunds, quarantined charges and chargebacks that wait for staff."""

from typing import Final

from alembic import op

revision = "0009"
down_revision = "0006"
branch_labels = None
depends_on = None

_INDEXES: Final = {
    "refunds_failed": "refunds (created_at, id) WHERE status = 'failed'",
    "quarantined_charges_undecided": "quarantined_charges (created_at, id) WHERE status = 'quarantined'",
    "chargebacks_open": "chargebacks (opened_at, id) WHERE status = 'opened'",
}


def upgrade() -> None:
    for name, rows in _INDEXES.items():
        op.execute(f"CREATE INDEX IF NOT EXISTS {name} ON {rows}")


def downgrade() -> None:
    for name in _INDEXES:
        op.execute(f"DROP INDEX {name}")
