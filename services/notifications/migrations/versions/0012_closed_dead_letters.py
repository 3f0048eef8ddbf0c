"""Staff close dead letters and dead webhooks that no replay can resolve (contract section 7.8)."""

from typing import Final

from alembic import op

from common.migrations.functions import create_dead_letter_closures_v1, drop_dead_letter_closures_v1

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_UPGRADE: Final = (
    """
    ALTER TABLE dead_letter_webhooks ADD COLUMN closed_at timestamptz,
        ADD COLUMN resolved_at timestamptz GENERATED ALWAYS AS (coalesce(replayed_at, closed_at)) STORED,
        ADD CONSTRAINT dead_letter_webhooks_resolved_once CHECK (num_nulls(replayed_at, closed_at) > 0) NOT VALID
    """,
    "ALTER TABLE dead_letter_webhooks VALIDATE CONSTRAINT dead_letter_webhooks_resolved_once",
)


def upgrade() -> None:
    create_dead_letter_closures_v1("notifications")
    for statement in _UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    """Drop the closures. Closed items and webhooks stay `ignored`."""
    op.execute("ALTER TABLE dead_letter_webhooks DROP COLUMN resolved_at, DROP COLUMN closed_at")
    drop_dead_letter_closures_v1()
