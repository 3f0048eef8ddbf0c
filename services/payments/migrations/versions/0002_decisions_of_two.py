"""Quarantined charges and failed refunds, decided by maker and checker."""

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Filled by the change that brings the tables."""


def downgrade() -> None:
    """Nothing to undo yet."""
