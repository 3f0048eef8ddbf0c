"""Staff grants with a second person, and the trail of every act."""

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Filled by the change that brings the tables."""


def downgrade() -> None:
    """Nothing to undo yet."""
