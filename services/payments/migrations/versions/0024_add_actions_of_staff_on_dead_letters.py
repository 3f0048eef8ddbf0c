"""Add actions of staff on dead letters."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"


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
    op.execute("REVOKE UPDATE, DELETE ON dead_letter_actions FROM campus_payments_service")
    op.execute("ALTER TABLE dead_letter_actions ENABLE ROW LEVEL SECURITY")
    op.execute("GRANT SELECT, INSERT ON dead_letter_actions TO campus_payments_api")
    # Staff see the fields that name the transaction.
    op.execute("GRANT SELECT (payload) ON dead_letter_webhooks TO campus_payments_api")
    op.execute("""
    CREATE POLICY dead_letter_actions_visible ON dead_letter_actions FOR SELECT
        USING (app_may('dead_letters:read') OR app_may('webhooks:replay'))
    """)
    op.execute("""
    CREATE POLICY dead_letter_actions_own ON dead_letter_actions FOR INSERT
        WITH CHECK (acted_by = app_user_id() AND app_may('webhooks:replay'))
    """)


def downgrade() -> None:
    op.execute("REVOKE SELECT (payload) ON dead_letter_webhooks FROM campus_payments_api")
    op.drop_index("dead_letter_actions_of_staff", table_name="dead_letter_actions")
    op.drop_table("dead_letter_actions")
