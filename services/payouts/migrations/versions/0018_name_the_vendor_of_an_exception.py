"""Name the vendor of an exception to its readers."""

from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.execute(
        "CREATE POLICY vendors_select_observed ON vendors FOR SELECT TO campus_payouts_api "
        "USING ((SELECT app_may('exceptions:read')))"
    )


def downgrade() -> None:
    op.execute("DROP POLICY vendors_select_observed ON vendors")
