"""A chain of hashes over the book, so that a changed past shows."""

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Filled by the change that brings the tables."""


def downgrade() -> None:
    """Nothing to undo yet."""
