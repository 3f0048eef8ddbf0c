"""Show staff the balances of buyers."""

from alembic import op

revision = "0023"
down_revision = "0022"

_TABLES = ("buyer_balances", "balance_lines")


def upgrade() -> None:
    for table in _TABLES:
        op.execute(
            f"ALTER POLICY {table}_own ON {table} "
            "USING (user_id = app_user_id() OR app_may('payments:read') OR app_may('ledger:read'))"
        )
        op.execute(f"ALTER POLICY {table}_own ON {table} RENAME TO {table}_visible")


def downgrade() -> None:
    for table in _TABLES:
        op.execute(f"ALTER POLICY {table}_visible ON {table} RENAME TO {table}_own")
        op.execute(f"ALTER POLICY {table}_own ON {table} USING (user_id = app_user_id())")
