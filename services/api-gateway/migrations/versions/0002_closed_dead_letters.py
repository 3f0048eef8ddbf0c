"""Staff close dead letters that no replay can resolve (contract section 7.8)."""

from common.migrations.functions import create_dead_letter_closures_v1, drop_dead_letter_closures_v1

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    create_dead_letter_closures_v1("api_gateway")


def downgrade() -> None:
    drop_dead_letter_closures_v1()
