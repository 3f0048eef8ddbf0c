"""Count the tickets that wait for staff."""

from typing import Final

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_INDEXES: Final = {
    "support_tickets_open": "support_tickets (updated_at, id) WHERE status = 'open'",
}


def upgrade() -> None:
    for name, rows in _INDEXES.items():
        op.execute(f"CREATE INDEX IF NOT EXISTS {name} ON {rows}")


def downgrade() -> None:
    for name in _INDEXES:
        op.execute(f"DROP INDEX {name}")
