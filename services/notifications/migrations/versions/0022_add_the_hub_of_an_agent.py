"""Add the hub of an agent."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.add_column("contacts", sa.Column("hub_id", sa.Uuid(), nullable=True))
    op.create_index(
        "contacts_of_hub",
        "contacts",
        ["hub_id", "user_id"],
        postgresql_where=sa.text("hub_id IS NOT NULL"),
        if_not_exists=True,
    )


def downgrade() -> None:
    op.drop_index("contacts_of_hub", table_name="contacts")
    op.drop_column("contacts", "hub_id")
