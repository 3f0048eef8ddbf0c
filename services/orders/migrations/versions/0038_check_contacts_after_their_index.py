"""Check contacts after their index."""

from alembic import op

revision = "0038"
down_revision = "0037"


def upgrade() -> None:
    op.execute("ALTER FUNCTION shares_order_with(uuid) COST 10000")


def downgrade() -> None:
    op.execute("ALTER FUNCTION shares_order_with(uuid) COST 100")
