"""Acknowledge, assign, note and escalate alerts."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.add_column("alerts", sa.Column("acknowledged_at", sa.TIMESTAMP(timezone=True), nullable=True))
    op.add_column("alerts", sa.Column("acknowledged_by", sa.Uuid(), nullable=True))
    op.add_column("alerts", sa.Column("assignee_id", sa.Uuid(), nullable=True))
    op.add_column("alerts", sa.Column("escalated_at", sa.TIMESTAMP(timezone=True), nullable=True))
    op.execute(
        "ALTER TABLE alerts ADD CONSTRAINT alerts_acknowledged_by_a_user"
        " CHECK ((acknowledged_at IS NULL) = (acknowledged_by IS NULL)) NOT VALID"
    )
    op.execute("CREATE POLICY alerts_acknowledged ON alerts FOR UPDATE USING (app_may('alerts:acknowledge'))")
    op.create_table(
        "alert_actions",
        sa.Column("position", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("alert_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("acted_by", sa.Uuid(), nullable=True),
        sa.Column("assignee_id", sa.Uuid(), nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("acted_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.CheckConstraint(
            "kind IN ('acknowledged', 'assigned', 'noted', 'escalated')", name="alert_actions_kind_known"
        ),
        sa.CheckConstraint("(kind = 'escalated') = (acted_by IS NULL)", name="alert_actions_by_a_user"),
        sa.CheckConstraint("(kind = 'noted') = (note IS NOT NULL)", name="alert_actions_note_of_noted"),
        sa.ForeignKeyConstraint(["alert_id"], ["alerts.id"], name="alert_actions_alert"),
        sa.PrimaryKeyConstraint("position"),
    )
    op.create_index(
        "alert_actions_of_alert", "alert_actions", ["alert_id", "position"], unique=False, if_not_exists=True
    )
    op.execute("GRANT UPDATE (acknowledged_at, acknowledged_by, assignee_id) ON alerts TO campus_notifications_api")
    op.execute("ALTER TABLE alert_actions ENABLE ROW LEVEL SECURITY")
    op.execute("GRANT SELECT, INSERT ON alert_actions TO campus_notifications_api")
    op.execute(
        "CREATE POLICY alert_actions_for_staff ON alert_actions FOR SELECT"
        " USING (EXISTS (SELECT FROM alerts a WHERE a.id = alert_id))"
    )
    op.execute(
        "CREATE POLICY alert_actions_written ON alert_actions FOR INSERT WITH CHECK ("
        "acted_by = app_user_id() AND app_may('alerts:acknowledge')"
        " AND EXISTS (SELECT FROM alerts a WHERE a.id = alert_id))"
    )


def downgrade() -> None:
    op.drop_table("alert_actions")
    op.execute("DROP POLICY alerts_acknowledged ON alerts")
    op.execute("REVOKE UPDATE (acknowledged_at, acknowledged_by, assignee_id) ON alerts FROM campus_notifications_api")
    op.drop_constraint("alerts_acknowledged_by_a_user", "alerts")
    for column in ("escalated_at", "assignee_id", "acknowledged_by", "acknowledged_at"):
        op.drop_column("alerts", column)
