"""The service's roles may not change or delete rows that are history (decision 31).

Revision ID: 0014
"""

from typing import Final

from common.migrations.functions import protect_history_v1, release_history_v1

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

SERVICE = "orders"

# The columns that may still change; all others are written once.
HISTORY: Final = {
    "delivery_verifications": "",
    "dispute_resolutions": "decided_at, decided_by, refund_id, release_minor, status",
    "order_refunds": "counted, reason, status",
}


def upgrade() -> None:
    for table, updatable in HISTORY.items():
        protect_history_v1(SERVICE, table, updatable)


def downgrade() -> None:
    for table in HISTORY:
        release_history_v1(SERVICE, table)
