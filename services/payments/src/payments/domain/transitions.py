"""The transitions of payments and refunds (contract section 7): trigger, state before, state after.

The conditions are in the statements of `store`, each under the lock of its order or refund; a test compares the two.
"""

from collections.abc import Mapping
from typing import Final

Transitions = Mapping[str, Mapping[str, str]]

# `paid` is final. A payment that is failed or closed can still be paid: the payer may try again on the gateway's page.
PAYMENT_TRANSITIONS: Final[Transitions] = {
    "opened_at_gateway": {"opening": "pending"},
    "declined": {"pending": "failed"},
    "charged": dict.fromkeys(("opening", "pending", "failed", "quarantined", "overpaid", "closed"), "paid"),
    "charged_wrongly": dict.fromkeys(("opening", "pending", "failed", "overpaid", "closed"), "quarantined"),
    "charged_again": dict.fromkeys(("opening", "pending", "failed", "quarantined", "closed"), "overpaid"),
    "order_closed": {"opening": "closed", "pending": "closed"},
}
# A settled refund can still fail: the bank may return the money.
REFUND_TRANSITIONS: Final[Transitions] = {
    "sent": {"pending": "submitting"},
    "not_sent": {"submitting": "pending"},
    "accepted": {"pending": "submitted", "submitting": "submitted"},
    "settled": dict.fromkeys(("pending", "submitting", "submitted", "failed", "prepared"), "settled"),
    "failed": dict.fromkeys(("pending", "submitting", "submitted", "settled"), "failed"),
    "decision_prepared": {"failed": "prepared"},
    "decision_rejected": {"prepared": "failed"},
    # A new attempt, or the account that the gateway requested.
    "attempt_approved": {"prepared": "pending"},
    "account_approved": {"prepared": "submitting"},
}
