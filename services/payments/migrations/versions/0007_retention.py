"""What is too old to be needed leaves by jobs.

Revision ID: 0007
"""

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass


def downgrade() -> None:
    pass
