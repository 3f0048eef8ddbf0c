"""Find the unpaid orders of a buyer, whose number is limited at each checkout."""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Where the table is large, create the index with CONCURRENTLY before the release: then this finds it.
    op.execute("CREATE INDEX IF NOT EXISTS orders_unpaid_of_buyer ON orders (buyer_id) WHERE status = 'Processing'")


def downgrade() -> None:
    op.execute("DROP INDEX orders_unpaid_of_buyer")
