"""The idempotency keys of commands: a repeated request finds the resource of the first one."""

from alembic import op

from common.migrations.functions import create_idempotent_commands_v1

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    create_idempotent_commands_v1("payouts")


def downgrade() -> None:
    op.execute("DROP TABLE idempotent_commands")
