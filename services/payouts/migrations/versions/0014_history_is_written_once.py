"""The service's roles may not change or delete rows that are history (decision 31).

Revision ID: 0014
"""

from typing import Final

from common.migrations.functions import protect_history_v1, release_history_v1

revision = "0014"
down_revision = "0012"
branch_labels = None
depends_on = None

SERVICE = "payouts"

# The columns that may still change; all others are written once.
HISTORY: Final = {
    "wallet_lines": "",
    "transfer_observations": "",
    "payout_acts": "",
    "payout_exception_acts": "",
    "bank_detail_quarantines": "",
    "payout_transfers": "asks, batch_id, called_at, due_at, failure, recipient_code, status, submissions, transfer_code, updated_at",
    "payout_requests": (
        "processed_at, restitution_awaited_since, restitution_reason, retry_count, status, "
        "transfer_code, transfer_failure, transfer_reference, updated_at"
    ),
    "payout_exceptions": "cause, closed_at, closed_because, respond_by, severity, status",
    "dispatch_batches": "answer, finished_at, remaining",
    "dispatch_lines": "outcome, reason",
    "found_transfers": "evidence, outcome, payout_id, status",
    "reconciliations": "decided_at, decided_by, reason, rejection, status",
    "bank_detail_versions": (
        "account_fingerprint, account_name, account_number, account_sealed, bank_code, "
        "check_digit_valid, last4, reason, verified"
    ),
    "chargebacks": "held_minor, sequence, status",
}


def upgrade() -> None:
    for table, updatable in HISTORY.items():
        protect_history_v1(SERVICE, table, updatable)


def downgrade() -> None:
    for table in HISTORY:
        release_history_v1(SERVICE, table)
