"""Pictures leave their store: those of tickets that were emptied, and those that no ticket ever showed.

Revision ID: 0010
"""

from alembic import op

from common.migrations.functions import create_leaving_pictures_v1

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # The policies of the tickets hold inside: who sees a ticket may bring a picture to it.
    create_leaving_pictures_v1("notifications", "EXISTS (SELECT FROM support_tickets AS own WHERE own.id = owner_id)")


def downgrade() -> None:
    op.execute("DROP TABLE leaving_pictures")
