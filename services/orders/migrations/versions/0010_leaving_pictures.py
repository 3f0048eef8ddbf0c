"""Pictures leave their store: those that a product shows no more, and those that no product ever showed.

Revision ID: 0010
"""

from alembic import op

from common.migrations.functions import create_leaving_pictures_v1

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    create_leaving_pictures_v1(
        "orders", "EXISTS (SELECT FROM products AS own WHERE own.id = owner_id AND own.vendor_id = app_vendor_id())"
    )


def downgrade() -> None:
    op.execute("DROP TABLE leaving_pictures")
