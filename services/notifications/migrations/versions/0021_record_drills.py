"""Record drills of the people on call."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.create_table(
        "drills",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("runbook", sa.Text(), nullable=False),
        sa.Column("severity", sa.Text(), nullable=False),
        sa.Column("started_by", sa.Uuid(), nullable=False),
        sa.Column("started_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("seen_at", sa.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("acknowledged_at", sa.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("cleared_at", sa.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("ended_at", sa.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("runbook_steps", postgresql.ARRAY(sa.Integer()), server_default=sa.text("'{}'"), nullable=False),
        sa.CheckConstraint("severity IN ('SEV-1', 'SEV-2', 'SEV-3')", name="drills_severity_known"),
        sa.CheckConstraint(
            "ended_at IS NOT NULL OR (seen_at IS NULL AND acknowledged_at IS NULL AND cleared_at IS NULL)",
            name="drills_measured_at_their_end",
        ),
        sa.CheckConstraint(
            "seen_at IS NOT NULL OR (acknowledged_at IS NULL AND cleared_at IS NULL)", name="drills_seen_first"
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "drills_one_at_a_time",
        "drills",
        [sa.text("(ended_at IS NULL)")],
        unique=True,
        postgresql_where=sa.text("ended_at IS NULL"),
        if_not_exists=True,
    )
    op.create_index(
        "drills_newest", "drills", [sa.text("started_at DESC"), sa.text("id DESC")], unique=False, if_not_exists=True
    )
    op.execute("ALTER TABLE drills ENABLE ROW LEVEL SECURITY")
    op.execute("GRANT SELECT, INSERT ON drills TO campus_notifications_api")
    op.execute(
        "GRANT UPDATE (seen_at, acknowledged_at, cleared_at, ended_at, runbook_steps) ON drills"
        " TO campus_notifications_api"
    )
    op.execute("CREATE POLICY drills_for_staff ON drills FOR SELECT USING (app_may('alerts:read'))")
    op.execute(
        "CREATE POLICY drills_started ON drills FOR INSERT"
        " WITH CHECK (started_by = app_user_id() AND app_may('operations:stop'))"
    )
    op.execute("CREATE POLICY drills_ended ON drills FOR UPDATE USING (app_may('operations:stop'))")


def downgrade() -> None:
    op.drop_table("drills")
