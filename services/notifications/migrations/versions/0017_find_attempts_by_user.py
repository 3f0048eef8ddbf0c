"""Find attempts by user."""

from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.create_index(
        "notification_delivery_logs_of_user",
        "notification_delivery_logs",
        ["user_id", "attempted_at"],
        unique=False,
        if_not_exists=True,
    )


def downgrade() -> None:
    op.drop_index("notification_delivery_logs_of_user", table_name="notification_delivery_logs")
