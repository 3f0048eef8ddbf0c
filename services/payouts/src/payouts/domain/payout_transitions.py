"""The transitions of payouts and exceptions (contract section 8): trigger, state before, state after.

The conditions are in the statements of `store`, each under the lock of its payout; a test compares the two. The table of
transfers is `transitions.py`.
"""

from collections.abc import Mapping
from typing import Final

Transitions = Mapping[str, Mapping[str, str]]

# A processed payout stays processed: a return by the bank is a posting of its own.
PAYOUT_TRANSITIONS: Final[Transitions] = {
    "transfer_succeeded": {"pending": "processed"},
    "amount_returned": {"pending": "failed"},
}
EXCEPTION_TRANSITIONS: Final[Transitions] = {"closed": {"open": "closed"}}
