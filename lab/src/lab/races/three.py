"""Three actions at once, where money moves by two triggers while a third one takes the same money or its way."""

from collections.abc import Sequence
from typing import Final

from lab.races import orders, payouts
from lab.races.actions import Combination, Situation

_THREE: Final = (
    "unpaid: buyer_cancels/charge/payment_window_ended",
    "unpaid: vendor_cancels/charge/buyer_cancels",
    "paid: staff_cancels/dashboard_refund/staff_release",
    "paid: buyer_cancels/chargeback/vendor_dispatches",
    "paid: staff_release/chargeback/staff_cancels",
    "paid: vendor_idle/pin_accepted/buyer_disputes",
    "paid: vendor_cancels/chargeback/dashboard_refund",
    "dispatched: pin_accepted/buyer_disputes/staff_release",
    "dispatched: pin_window_ended/pin_accepted/chargeback",
    "dispatched: staff_cancels/pin_accepted/chargeback",
    "disputed, buyer: resolved_for_buyer/staff_release/chargeback",
    "disputed, split: resolved_for_split/chargeback/resolution_rejected",
    "released: return_approved/rest_returned/chargeback",
    "refund of a return failed: refund_failed/rest_returned/chargeback",
    "refunded at the gateway: refund_settled/settle_refunds/chargeback",
    "requested of a sale: dispatch/chargeback/bank_details",
    "requested of a sale: dispatch/cancel/chargeback",
    "failed: approve_return/success_webhook/reset",
    "unanswered: success_webhook/due_transfers/quarantine",
    "recovered: reversed_webhook/success_webhook/compare_transfers",
)
_ADDED: Final = {action.name: action for action in (orders.DASHBOARD_REFUND, orders.CHARGEBACK)}


def three_at_once(situations: Sequence[Situation]) -> list[Combination]:
    """Return the combinations of three actions, by their names."""
    by_name = {situation.name: situation for situation in (*situations, payouts.OF_A_SALE)}
    combinations = []
    for text in _THREE:
        name, _, names = text.partition(": ")
        actions = _ADDED | {action.name: action for action in by_name[name].actions}
        combinations.append(Combination(by_name[name], tuple(actions[one] for one in names.split("/"))))
    return combinations
