"""Add actions of staff on dead letters."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"


def upgrade() -> None:
    op.create_table(
        "dead_letter_actions",
        sa.Column("dead_letter_id", sa.Uuid(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("queue", sa.Text(), nullable=False),
        sa.Column("event_type", sa.Text(), nullable=False),
        sa.Column("acted_by", sa.Uuid(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("acted_at", sa.TIMESTAMP(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "(reason IS NULL) = (action = 'replayed')", name="dead_letter_actions_request_has_its_reason"
        ),
        sa.CheckConstraint("action IN ('replayed', 'closure_requested')", name="dead_letter_actions_known"),
        sa.PrimaryKeyConstraint("dead_letter_id", "action"),
    )
    op.create_index(
        "dead_letter_actions_of_staff",
        "dead_letter_actions",
        ["acted_by", "acted_at"],
        unique=False,
        if_not_exists=True,
    )
    op.execute("REVOKE UPDATE, DELETE ON dead_letter_actions FROM campus_orders_service")


def downgrade() -> None:
    op.drop_index("dead_letter_actions_of_staff", table_name="dead_letter_actions")
    op.drop_table("dead_letter_actions")
