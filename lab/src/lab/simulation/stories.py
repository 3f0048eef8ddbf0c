"""Journeys written for the situations that random ones seldom reach. A seed below zero is one of them by itself, the
seeds above it have them among other journeys, with faults.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, get_args

from lab.simulation import deliveries, payments, payouts, steps
from lab.simulation.step import Step
from lab.simulation.steps import ChargebackAction, Part
from lab.stepped.simulated_gateway import CallFault

_D: Final = steps.deliver_everything()
Journey = Sequence[Step]
Way = Literal["lose", "win"]


def _placed(order: int, *, lines: str = "one line", place: str = "the vendor's") -> Journey:
    return (steps.place(order, 0, 2, lines, place), _D, payments.start_payment(order, "none", "page"))


def _paid(order: int, **terms: str) -> Journey:
    return (*_placed(order, **terms), payments.pay(order, 0, "exactly"), _D)


def _delivered(order: int) -> Journey:
    return (*_paid(order), steps.dispatch(order), steps.hand_over(order), _D)


def _opened(order: int, part: Part = "all") -> Journey:
    return (steps.open_chargeback(order, part), _D)


def _decided(order: int, action: ChargebackAction) -> Journey:
    return (steps.decide_chargeback(order, action), _D)


def _return(order: int) -> Journey:
    return (steps.return_piece(order, "back"), _D)


def _returned(order: int) -> Journey:
    return (steps.decide_return(order, "approve"), _D)


def _refunds(order: int, action: Literal["process", "fail", "attention"]) -> Journey:
    return (steps.settle_refunds(order, action), _D)


def _disputed(order: int, outcome: Literal["buyer", "vendor", "split"]) -> Journey:
    return (steps.dispute(order, "back"), steps.resolve_dispute(order, outcome), _D)


def _approved(order: int, decision: Literal["approve", "reject"] = "approve") -> Journey:
    return (steps.decide_resolution(order, decision), _D)


def _overdue(order: int, *, ending: Journey) -> Journey:
    """Return an order that ends unpaid, and is then paid."""
    return (*_placed(order), *ending, payments.pay(order, 0, "exactly"), _D)


def _with_chargeback(way: Way) -> Mapping[str, Journey]:
    """Return the journeys whose chargeback ends in one way."""
    return {
        f"a return is decided after a chargeback, {way}": (
            *_delivered(0), *_return(0), *_opened(0, "a third"), *_decided(0, way), *_returned(0),
        ),
        f"a return is decided during a chargeback, {way}": (
            *_delivered(0), *_opened(0, "a third"), *_return(0), *_returned(0), *_decided(0, way),
        ),
        f"a resolution is approved after a chargeback, {way}": (
            *_paid(0), *_disputed(0, "split"), *_opened(0, "a third"), *_decided(0, way), *_approved(0),
        ),
        f"a resolution is approved during a chargeback, {way}": (
            *_paid(0), *_disputed(0, "buyer"), *_opened(0, "a third"), *_approved(0), *_decided(0, way),
            *_refunds(0, "process"),
        ),
        f"a resolution for the vendor during a chargeback, {way}": (
            *_paid(0), *_disputed(0, "vendor"), *_opened(0, "a third"), *_approved(0), *_decided(0, way),
        ),
        f"a cancelled order is charged back, {way}": (
            *_paid(0), steps.cancel(0, "buyer", "back"), _D, *_opened(0, "a third"), *_decided(0, way),
            *_refunds(0, "process"), *_refunds(0, "process"),
        ),
        f"a refunded order is charged back, {way}": (
            *_delivered(0), *_opened(0, "a third"), *_return(0), *_returned(0), *_refunds(0, "process"), *_return(0),
            *_returned(0), *_decided(0, way),
        ),
        f"a refund fails during a chargeback, {way}": (
            *_delivered(0), *_return(0), *_returned(0), *_opened(0, "a third"), *_refunds(0, "fail"),
            *_decided(0, way), steps.decide_refunds(0, "retry"), _D, *_refunds(0, "process"),
        ),
        f"two chargebacks of one order, {way}": (
            *_delivered(0), *_opened(0, "a third"), *_opened(0, "a third"), *_decided(0, way),
        ),
        f"a chargeback after one, {way}": (
            *_delivered(0), *_opened(0, "a third"), *_decided(0, way), *_opened(0, "a third"), *_return(0),
            *_returned(0), *_refunds(0, "process"), *_decided(0, "win"),
        ),
        f"a line is cancelled, and the order charged back, {way}": (
            *_paid(0, lines="two lines", place="a hub"), deliveries.cancel_line(0, "vendor", 1), _D,
            *_opened(0, "a third"), *_refunds(0, "process"), *_decided(0, way),
        ),
        f"a released order is charged back before the delivery, {way}": (
            *_paid(0), steps.dispatch(0), *_opened(0, "a third"), steps.release(0, "all"), _D, *_decided(0, way),
        ),
        f"goodwill after a chargeback, {way}": (
            *_delivered(0), payments.give_goodwill(0, "a tenth", "approve"), *_opened(0), *_decided(0, way),
            payments.give_goodwill(0, "a tenth", "approve"), _D,
        ),
    }  # fmt: skip


def _each(journey: Journey, *before: Step) -> Journey:
    """Return the journey with these steps before each delivery."""
    return tuple(one for step in journey for one in ((*before, step) if step is _D else (step,)))


def _everywhere(way: str, *before: Step) -> Mapping[str, Journey]:
    """Return journeys that publish each event of money, with these steps before each delivery."""
    journeys = {
        "of a purchase": (
            payments.place_purchase(0, 1, 0, 1), _D, payments.start_payment(0, "none", "page"),
            payments.pay(0, 0, "exactly"), _D, steps.dispatch(0), steps.hand_over(0), _D,
            steps.cancel(1, "buyer", "back"), _D, *_refunds(0, "process"), steps.pass_days(15), _D, steps.pass_days(15),
            steps.pass_days(15), _D,
        ),
        "of a dispute": (*_paid(0), *_disputed(0, "split"), *_approved(0), *_refunds(0, "fail")),
        "of a failed refund": (
            *_delivered(0), *_return(0), *_returned(0), *_refunds(0, "fail"), steps.decide_refunds(0, "retry"), _D,
            *_refunds(0, "process"), *_opened(0), *_decided(0, "lose"),
        ),
        "of an order that ends": (
            *_placed(0), steps.pass_days(1), _D, payments.pay(0, 0, "exactly"), _D, steps.place(1, 0, 1, "one line",
            "the vendor's"), _D, payments.start_payment(1, "none", "page"), steps.cancel(1, "buyer", "back"), _D,
        ),
        "of a quarantined payment": (*_placed(0), payments.pay(0, 0, "too little"), _D),
        "of payouts": (
            *_delivered(0), payouts.request_payout(0, 30), _D, *_transfer("fail"), *_RESET,
            *_transfer("succeed", "reverse"),
        ),
    }  # fmt: skip
    return {f"{name}, {way}": _each(journey, *before) for name, journey in journeys.items()}


_RESET: Final[Journey] = (payouts.reset_payout(0), _D)


def _transfer(*actions: Literal["succeed", "fail", "reverse"]) -> Journey:
    settled = ((payouts.settle_transfer(0, 0, action, "Declined"), _D) for action in actions)
    return (payouts.dispatch_payout(0), _D, *(one for pair in settled for one in pair))


_WITHDRAWABLE: Final[Journey] = (
    *_paid(0), steps.cancel(0, "buyer", "to the balance"), _D, payments.withdraw(0, "all"),
    payments.decide_withdrawal(0, "pay"), _D,
)  # fmt: skip
_PAYOUT: Final[Journey] = (*_delivered(0), payouts.request_payout(0, 100), _D)
_RECONCILED: Final[Journey] = (payouts.reconcile_payout(0), _D)


def _bank(*actions: Literal["succeed", "fail", "reverse"]) -> Journey:
    settled = ((payments.settle_withdrawal(0, 0, action), _D) for action in actions)
    return tuple(one for pair in settled for one in pair)


def _with_fault(fault: CallFault) -> Mapping[str, Journey]:
    """Return journeys whose next call to each operation of the gateway has this fault."""
    fails, lost = steps.fail_call(fault), (steps.drop_webhook(0), steps.wait(120))
    journeys = {
        "a payment is opened": (*_placed(0)[:-1], fails, _placed(0)[-1], payments.pay(0, 0, "exactly"), _D),
        "a payment is queried": (*_placed(0), payments.pay(0, 0, "exactly"), *lost, fails, steps.pass_days(1), _D),
        "a refund is created": (*_paid(0), steps.fail_creation(fault), steps.cancel(0, "buyer", "back"), _D),
        "a refund is queried": (
            *_paid(0), steps.cancel(0, "buyer", "back"), _D, steps.settle_refunds(0, "process"), *lost, fails,
            steps.pass_days(1), _D,
        ),
        "a transfer is created": (*_PAYOUT, steps.fail_creation(fault), payouts.dispatch_payout(0), _D),
        "a transfer is queried": (
            *_PAYOUT, payouts.dispatch_payout(0), _D, payouts.settle_transfer(0, 0, "succeed", "Declined"), *lost,
            fails, steps.pass_days(1), _D,
        ),
        "a dispute is queried": (
            *_delivered(0), *_opened(0), *_decided(0, "lose"), steps.decide_chargeback(0, "overturn"),
            steps.send_webhook(0, "once"), fails, _D, fails, steps.pass_days(1), _D,
        ),
    }  # fmt: skip
    return {f"{name}, with {fault}": journey for name, journey in journeys.items()}


STORIES: Final[Mapping[str, Journey]] = {
    **_with_chargeback("lose"),
    **_with_chargeback("win"),
    "a chargeback of a quarantined payment": (
        *_placed(0), payments.pay(0, 0, "too little"), _D, *_opened(0),
    ),
    "an order is paid after its cancellation, and charged back": (
        *_overdue(0, ending=(steps.cancel(0, "buyer", "back"), _D)), *_opened(0),
    ),
    "an order is paid after its end, and charged back": (
        *_overdue(0, ending=(steps.pass_days(1),)), *_opened(0),
    ),
    "an order ends, is paid too little, and charged back": (
        *_placed(0), steps.pass_days(1), _D, payments.pay(0, 0, "too little"), _D, *_opened(0),
    ),
    "an order that has ended is paid without stock": (
        *_overdue(0, ending=(steps.cancel(0, "buyer", "back"), _D, steps.sell_out(), _D)),
    ),
    "an order is charged back before its cancellation arrives": (
        *_placed(0), payments.pay(0, 0, "exactly"), steps.cancel(0, "buyer", "back"), *_opened(0),
    ),
    "an overpayment at each stage": (
        *_placed(0), steps.decline(0), _D, payments.start_payment(0, "none", "page"), payments.pay(0, 0, "exactly"), _D,
        payments.pay(0, 1, "exactly"), _D, *_refunds(0, "process"),
    ),
    "a second payment while dispatched": (
        *_placed(0), steps.decline(0), _D, payments.start_payment(0, "none", "page"), payments.pay(0, 0, "exactly"), _D,
        steps.dispatch(0), payments.pay(0, 1, "exactly"), _D,
    ),
    "a second payment when delivered": (
        *_placed(0), steps.decline(0), _D, payments.start_payment(0, "none", "page"), payments.pay(0, 0, "exactly"), _D,
        steps.dispatch(0), steps.hand_over(0), payments.pay(0, 1, "exactly"), steps.send_webhook(0, "once"), _D,
    ),
    "a second payment while refunded": (
        *_placed(0), steps.decline(0), _D, payments.start_payment(0, "none", "page"), payments.pay(0, 0, "exactly"), _D,
        steps.cancel(0, "buyer", "back"), payments.pay(0, 1, "exactly"), steps.send_webhook(0, "once"), _D,
    ),
    "a quarantined payment, then a whole one, then another": (
        *_placed(0), payments.pay(0, 0, "too little"), _D, payments.start_payment(0, "none", "page"),
        payments.pay(0, 1, "exactly"), _D, payments.pay(0, 1, "too little"), _D,
    ),
    "a split is rejected": (*_paid(0), *_disputed(0, "split"), *_approved(0, "reject")),
    "a withdrawal is paid before the response": (
        *_WITHDRAWABLE[:-2], steps.fail_creation("success"), *_WITHDRAWABLE[-2:],
    ),
    "a withdrawal fails before the response": (
        *_WITHDRAWABLE[:-2], steps.fail_creation("failure"), *_WITHDRAWABLE[-2:],
    ),
    "a withdrawal is paid before the response, which is lost": (
        *_WITHDRAWABLE[:-2], steps.fail_creation("success and no response"), *_WITHDRAWABLE[-2:],
    ),
    "a withdrawal fails before the response, which is lost": (
        *_WITHDRAWABLE[:-2], steps.fail_creation("failure and no response"), *_WITHDRAWABLE[-2:],
    ),
    "a withdrawal is reversed, and paid": (*_WITHDRAWABLE, *_bank("succeed", "reverse", "succeed")),
    "a withdrawal fails, and is paid": (*_WITHDRAWABLE, *_bank("fail", "succeed")),
    "a withdrawal is paid, and its webhook is lost": (
        *_WITHDRAWABLE, payments.settle_withdrawal(0, 0, "succeed"), steps.drop_webhook(0), steps.pass_days(4), _D,
    ),
    "a payout fails, and is sent again": (*_PAYOUT, *_transfer("fail"), *_RESET, *_transfer("succeed")),
    "a payout fails, and an earlier transfer arrives": (
        *_PAYOUT, *_transfer("fail"), *_RESET, payouts.settle_transfer(0, 1, "succeed", "Declined"), _D,
    ),
    "a payout is reversed, reset and reversed again": (
        *_PAYOUT, *_transfer("succeed", "reverse"), *_RECONCILED, *_transfer("succeed", "reverse"),
    ),
    "a payout is reversed before its success": (*_PAYOUT, *_transfer("reverse", "succeed", "reverse", "succeed")),
    "a payout is reversed twice": (
        *_PAYOUT, *_transfer("reverse"), *_RESET, *_transfer("reverse"), *_RECONCILED,
        payouts.settle_transfer(0, 1, "succeed", "Declined"), _D,
    ),
    "a payout ends before the response": (*_PAYOUT, steps.fail_creation("success"), *_transfer("reverse")),
    "a payout fails before the response": (*_PAYOUT, steps.fail_creation("failure"), *_transfer("succeed")),
    "a payout ends before the response, which is lost": (
        *_PAYOUT, steps.fail_creation("success and no response"), *_transfer("reverse"),
    ),
    "a payout fails before the response, which is lost": (
        *_PAYOUT, steps.fail_creation("failure and no response"), *_transfer("succeed"),
    ),
    "a payout is held, and released": (
        *_PAYOUT, payouts.hold_payout(0), payouts.dispatch_payout(0), _D, payouts.release_payout(0),
        *_transfer("succeed"),
    ),
    # What payments publish follows a webhook, or a message of orders.
    **_everywhere(
        "each message twice",
        steps.send_webhook(0, "once"),
        steps.duplicate_everything(),
        *(steps.deliver_newest(), steps.duplicate_everything()) * 2,
    ),
    **_everywhere("acknowledgements lost", steps.drop_acknowledgements()),
    **_everywhere("the newest message first", *(steps.deliver_newest(),) * 4),
    **{
        f"a refund ends before the response: {fault}": (
            *_paid(0), steps.fail_creation(fault), steps.cancel(0, "buyer", "back"), _D,
        )
        for fault in ("success", "failure", "success and no response", "failure and no response")
    },
    "a cancellation arrives before its order": (
        *_placed(0)[:1], steps.cancel(0, "buyer", "back"), steps.deliver_newest(), _D,
    ),
    "an expiry arrives before its order": (*_placed(0)[:1], steps.pass_days(1), steps.deliver_newest(), _D),
    **{
        f"the end of a refund arrives before the refund: {action}": (
            *_paid(0), steps.hold_service("orders", 20), steps.cancel(0, "buyer", "back"), steps.deliver_present(),
            steps.settle_refunds(0, action), steps.deliver_present(), steps.wait(30),
            *(steps.deliver_newest(),) * 4, _D,
        )
        for action in ("process", "fail")
    },
    "a release before a chargeback arrives": (
        *_paid(0), steps.dispatch(0), _D, steps.hold_service("orders", 20), steps.release(0, "all"),
        steps.open_chargeback(0, "a third"), steps.deliver_present(), _D, *_decided(0, "lose"),
    ),
    "of two refunds the second fails": (
        *_delivered(0), *_return(0), *_returned(0), *_refunds(0, "process"), *_return(0), *_returned(0),
        *_refunds(0, "fail"),
    ),
    "of two refunds the first fails": (
        *_delivered(0), *_return(0), *_returned(0), *_refunds(0, "fail"), *_return(0), *_returned(0),
        *_refunds(0, "process"),
    ),
    "of two refunds under way one fails": (
        *_delivered(0), *_return(0), *_returned(0), *_return(0), steps.fail_creation("failure"), *_returned(0),
        *_refunds(0, "process"),
    ),
    "a refund beside a quarantined payment": (
        *_placed(0), payments.pay(0, 0, "too little"), _D, payments.start_payment(0, "none", "page"),
        payments.pay(0, 1, "exactly"), _D, steps.cancel(0, "buyer", "back"), _D, *_refunds(0, "process"),
    ),
    "a payout is reversed while two people decide": (
        *_PAYOUT, *_transfer("succeed", "reverse"), payouts.prepare_reconciliation(0),
        payouts.settle_transfer(0, 0, "succeed", "Declined"), _D, payouts.settle_transfer(0, 0, "reverse", "Declined"),
        _D,
    ),
    "a reset payout is reversed twice": (
        *_PAYOUT, *_transfer("fail"), *_RESET, *_transfer("succeed", "reverse"),
        payouts.settle_transfer(0, 1, "succeed", "Declined"), _D, steps.pass_days(1),
        payouts.settle_transfer(0, 1, "reverse", "Declined"), _D, steps.pass_days(1), _D,
    ),
    **{story: journey for fault in get_args(CallFault) for story, journey in _with_fault(fault).items()},
    "a decision about a refund is overtaken": (
        *_delivered(0), *_return(0), *_returned(0), *_refunds(0, "fail"),
        steps.decide_refunds(0, "pay to an account"), _D, steps.settle_refund_transfer(0, "reverse"), _D,
        steps.decide_refunds(0, "prepare"), steps.settle_refund_transfer(0, "succeed"), _D, steps.pass_days(1), _D,
    ),
    "a decision about a PIN expires": (
        *_paid(0), deliveries.lock_pin(0), deliveries.decide_reissue(0, "prepare"), steps.pass_days(1),
        deliveries.decide_reissue(0, "approve"), _D,
    ),
    "a parcel is collected at the hub with a reissued PIN": (
        *_paid(0, place="a hub"), steps.dispatch(0), deliveries.arrive(0), _D, deliveries.lock_pin(0),
        deliveries.decide_reissue(0, "approve"), _D, deliveries.hand_over_at_hub(0), _D,
    ),
    "both lines are cancelled": (
        *_paid(0, lines="two lines"), deliveries.cancel_line(0, "vendor", 0), _D,
        deliveries.cancel_line(0, "staff", 1), _D,
    ),
}  # fmt: skip
"""Each journey is about order 0, payout 0 and buyer 0."""
