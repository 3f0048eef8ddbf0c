"""Index the age of cart lines, by which abandoned ones are removed."""

from alembic import op

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    op.create_index("cart_items_oldest", "cart_items", ["added_at"], unique=False, if_not_exists=True)
    op.create_index("cart_variants_oldest", "cart_variants", ["added_at"], unique=False, if_not_exists=True)


def downgrade() -> None:
    op.drop_index("cart_variants_oldest", table_name="cart_variants")
    op.drop_index("cart_items_oldest", table_name="cart_items")
