"""What is too old to be needed leaves by jobs.

Revision ID: 0010
"""

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass


def downgrade() -> None:
    pass
