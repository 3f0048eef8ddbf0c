"""The idempotency keys of commands: a repeated request finds the resource of the first one."""

from alembic import op

from common.migrations.functions import create_keyed_commands_v1

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    create_keyed_commands_v1("orders")


def downgrade() -> None:
    op.execute("DROP TABLE keyed_commands")
