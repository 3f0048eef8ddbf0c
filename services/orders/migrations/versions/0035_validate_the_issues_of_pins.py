"""Validate the issues of pins."""

from alembic import op

revision = "0035"
down_revision = "0034"


def upgrade() -> None:
    op.execute("ALTER TABLE delivery_pins VALIDATE CONSTRAINT delivery_pins_issue_1_to_10")


def downgrade() -> None:
    """Keep the constraint, which 0034 removes."""
