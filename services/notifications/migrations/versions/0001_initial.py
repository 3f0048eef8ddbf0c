"""Notifications, deliveries, devices, alerts, the messaging app, support tickets and the assistant.

The SQL is in the file of the same name.
"""

from pathlib import Path

from alembic import op

from common.migrations.functions import create_messaging_v1, execute_file, grant_roles_v1
from common.migrations.monthly_partitions import close_partition_v1, create_monthly_partitions_v1

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_LOG = "notification_delivery_logs"


def upgrade() -> None:
    grant_roles_v1("notifications")
    create_messaging_v1("notifications")
    execute_file(Path(__file__).with_suffix(".sql"))
    close_partition_v1("notifications", f"{_LOG}_earlier")
    create_monthly_partitions_v1("notifications", _LOG, "attempted_at", beside="notification_deliveries")
    op.execute(f"SELECT {_LOG}_turn_months(now() + interval '62 days', '-infinity')")


def downgrade() -> None:
    raise NotImplementedError("a first migration is undone by dropping the database")
