"""The parts of stories: journeys of one order, one payout or one buyer."""

from collections.abc import Sequence
from typing import Final, Literal

from lab.simulation import payments, payouts, steps
from lab.simulation.step import Step
from lab.simulation.steps import ChargebackAction, Part

D: Final = steps.deliver_everything()
Journey = Sequence[Step]


def placed(order: int, *, lines: str = "one line", place: str = "the vendor's") -> Journey:
    return (steps.place(order, 0, 2, lines, place), D, payments.start_payment(order, "none", "page"))


def paid(order: int, **terms: str) -> Journey:
    return (*placed(order, **terms), payments.pay(order, 0, "exactly"), D)


def delivered(order: int) -> Journey:
    return (*paid(order), steps.dispatch(order), steps.hand_over(order), D)


def opened(order: int, part: Part = "all") -> Journey:
    return (steps.open_chargeback(order, part), D)


def decided(order: int, action: ChargebackAction) -> Journey:
    return (steps.decide_chargeback(order, action), D)


def returning(order: int) -> Journey:
    return (steps.return_piece(order, "back"), D)


def returned(order: int) -> Journey:
    return (steps.decide_return(order, "approve"), D)


def refunds(order: int, action: Literal["process", "fail", "attention"]) -> Journey:
    return (steps.settle_refunds(order, action), D)


def disputed(order: int, outcome: Literal["buyer", "vendor", "split"]) -> Journey:
    return (steps.dispute(order, "back"), steps.resolve_dispute(order, outcome), D)


def approved(order: int, decision: Literal["approve", "reject"] = "approve") -> Journey:
    return (steps.decide_resolution(order, decision), D)


def overdue(order: int, *, ending: Journey) -> Journey:
    """Return an order that ends unpaid, and is then paid."""
    return (*placed(order), *ending, payments.pay(order, 0, "exactly"), D)


RESET: Final[Journey] = (payouts.reset_payout(0), D)


def transfer(*actions: Literal["succeed", "fail", "reverse"]) -> Journey:
    settled = ((payouts.settle_transfer(0, 0, action, "Declined"), D) for action in actions)
    return (payouts.dispatch_payout(0), D, *(one for pair in settled for one in pair))


WITHDRAWABLE: Final[Journey] = (
    *paid(0), steps.cancel(0, "buyer", "to the balance"), D, payments.withdraw(0, "all"),
    payments.decide_withdrawal(0, "pay"), D,
)  # fmt: skip
PAYOUT: Final[Journey] = (*delivered(0), payouts.request_payout(0, 100), D)
RECONCILED: Final[Journey] = (payouts.reconcile_payout(0), D)


def bank(*actions: Literal["succeed", "fail", "reverse"]) -> Journey:
    settled = ((payments.settle_withdrawal(0, 0, action), D) for action in actions)
    return tuple(one for pair in settled for one in pair)
