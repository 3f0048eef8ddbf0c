"""What orders, the book and the gateway say of the same money, compared."""

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Filled by the change that brings the tables."""


def downgrade() -> None:
    """Nothing to undo yet."""
