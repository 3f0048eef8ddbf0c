"""Keep internal notes of tickets."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"

_ACCESS = (
    "ALTER TABLE support_notes ENABLE ROW LEVEL SECURITY",
    "GRANT SELECT, INSERT ON support_notes TO campus_notifications_api",
    """
CREATE POLICY support_notes_for_staff ON support_notes FOR SELECT
    USING (
        (app_may('tickets:manage') OR app_may('tickets:read'))
        AND EXISTS (
            SELECT FROM support_tickets t WHERE t.id = ticket_id AND t.user_id IS DISTINCT FROM app_user_id()
        )
    )
""",
    """
CREATE POLICY support_notes_written ON support_notes FOR INSERT
    WITH CHECK (
        author_id = app_user_id() AND app_may('tickets:manage')
        AND EXISTS (
            SELECT FROM support_tickets t WHERE t.id = ticket_id AND t.user_id IS DISTINCT FROM app_user_id()
        )
    )
""",
)


def upgrade() -> None:
    op.create_table(
        "support_notes",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("ticket_id", sa.Uuid(), nullable=False),
        sa.Column("author_id", sa.Uuid(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("created_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["ticket_id"], ["support_tickets.id"], name="support_notes_ticket"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "support_notes_of_ticket", "support_notes", ["ticket_id", "created_at", "id"], unique=False, if_not_exists=True
    )
    for statement in _ACCESS:
        op.execute(statement)


def downgrade() -> None:
    op.drop_index("support_notes_of_ticket", table_name="support_notes")
    op.drop_table("support_notes")
