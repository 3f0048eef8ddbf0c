"""An erased person leaves the wallets; the books stay.

Revision ID: 0011
"""

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass


def downgrade() -> None:
    pass
