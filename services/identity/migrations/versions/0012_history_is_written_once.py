"""The service's roles may not change or delete rows that are history (decision 31).

Revision ID: 0012
"""

from typing import Final

from common.migrations.functions import protect_history_v1, release_history_v1

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

SERVICE = "identity"

# The columns that may still change; all others are written once.
HISTORY: Final = {
    "staff_acts": "",
    "staff_grants": "decided_at, decided_by, status",
    "erasure_verdicts": "",
}


def upgrade() -> None:
    for table, updatable in HISTORY.items():
        protect_history_v1(SERVICE, table, updatable)


def downgrade() -> None:
    for table in HISTORY.keys() - {"staff_acts"}:  # protected since 0007
        release_history_v1(SERVICE, table)
