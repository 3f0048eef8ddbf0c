"""Staff close dead letters that no replay can resolve (contract section 7.8)."""

from common.migrations.functions import create_dead_letter_closures_v1, drop_dead_letter_closures_v1

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    create_dead_letter_closures_v1("payouts")


def downgrade() -> None:
    drop_dead_letter_closures_v1()
