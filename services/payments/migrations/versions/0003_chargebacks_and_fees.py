"""Chargebacks at the gateway, and the gateway's fees."""

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Filled by the change that brings the tables."""


def downgrade() -> None:
    """Nothing to undo yet."""
