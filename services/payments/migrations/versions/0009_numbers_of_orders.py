"""The number of each order for people (contract section 1.7). Null: placed before orders published the number."""

from typing import Final

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_UPGRADE: Final = (
    "ALTER TABLE payable_orders ADD COLUMN number text",
    # With the owner's rights: a caller reads the orders of others by id only where a list shows the id.
    """
    CREATE FUNCTION number_of_order(searched_order_id uuid) RETURNS text
        LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
        SELECT number FROM payable_orders WHERE id = searched_order_id
    $$
    """,
    "REVOKE EXECUTE ON FUNCTION number_of_order FROM public",
    "GRANT EXECUTE ON FUNCTION number_of_order TO campus_payments_api, campus_payments_service",
)


def upgrade() -> None:
    for statement in _UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP FUNCTION number_of_order")
    op.execute("ALTER TABLE payable_orders DROP COLUMN number")
