"""Whose number is proven, and who is of the staff, is known here: tickets go to the first, and are given to the second.

Revision ID: 0009
"""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "ALTER TABLE contacts ADD COLUMN phone_confirmed boolean NOT NULL DEFAULT false, ADD COLUMN staff_roles text[]"
    )


def downgrade() -> None:
    op.execute("ALTER TABLE contacts DROP COLUMN phone_confirmed, DROP COLUMN staff_roles")
