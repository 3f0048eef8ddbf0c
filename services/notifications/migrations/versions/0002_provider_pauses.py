"""Pauses of providers that reject our account, shared by all processes (decision 42)."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        """
        CREATE TABLE provider_pauses (
            provider text PRIMARY KEY,
            reason text NOT NULL,
            failed_at timestamptz NOT NULL,
            probe_at timestamptz NOT NULL
        )
        """
    )
    op.execute("ALTER TABLE provider_pauses ENABLE ROW LEVEL SECURITY")


def downgrade() -> None:
    op.execute("DROP TABLE provider_pauses")
