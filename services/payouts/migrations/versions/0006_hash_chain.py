"""A chain of hashes over the wallets' book.

Revision ID: 0006
"""

from common.migrations.functions import extend_ledger_v2, retract_ledger_v2

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

SERVICE = "payouts"


def upgrade() -> None:
    extend_ledger_v2(SERVICE)


def downgrade() -> None:
    retract_ledger_v2()
