"""Finance reads the alerts of money, and gets a mail about a quarantined charge (contract section 7)."""

from typing import Final

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_ALERTS: Final = "ALTER POLICY alerts_for_staff ON alerts USING"


def upgrade() -> None:
    op.execute(
        f"{_ALERTS} (app_may('alerts:read') OR (app_may('money_alerts:read') AND source IN ('payments', 'payouts')))"
    )
    op.execute("CREATE INDEX IF NOT EXISTS contacts_of_staff ON contacts (user_id) WHERE staff_roles <> '{}'")


def downgrade() -> None:
    op.execute(f"{_ALERTS} (app_may('alerts:read'))")
    op.execute("DROP INDEX contacts_of_staff")
