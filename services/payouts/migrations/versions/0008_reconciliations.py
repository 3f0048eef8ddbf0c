"""Reconciliations prepared by one person and decided by another.

Revision ID: 0008
"""

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass


def downgrade() -> None:
    pass
