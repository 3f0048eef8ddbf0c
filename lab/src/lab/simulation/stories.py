"""Journeys written for the situations that random ones seldom reach. A seed below zero is one of them by itself, the
seeds above it have them among other journeys, with faults.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, get_args

from lab.simulation import deliveries, faults, payments, payouts, shops, steps
from lab.simulation.fault_stories import WITH_FAULTS
from lab.simulation.journeys import (
    PAYOUT,
    RECONCILED,
    RESET,
    WITHDRAWABLE,
    D,
    Journey,
    approved,
    bank,
    decided,
    delivered,
    disputed,
    opened,
    overdue,
    paid,
    placed,
    refunds,
    returned,
    returning,
    transfer,
)
from lab.simulation.situations import KeyEnd, Removal
from lab.simulation.step import Step

Way = Literal["lose", "win"]


_FOUND: Final[Mapping[str, Sequence[Literal["succeed", "fail", "reverse"]]]] = {
    "paid": ("succeed",),
    "failed": ("fail",),
    "returned": ("succeed", "reverse"),
}


def _with_chargeback(way: Way) -> Mapping[str, Journey]:
    """Return the journeys whose chargeback ends in one way."""
    return {
        f"a return is decided after a chargeback, {way}": (
            *delivered(0), *returning(0), *opened(0, "a third"), *decided(0, way), *returned(0),
        ),
        f"a return is decided during a chargeback, {way}": (
            *delivered(0), *opened(0, "a third"), *returning(0), *returned(0), *decided(0, way),
        ),
        f"a resolution is approved after a chargeback, {way}": (
            *paid(0), *disputed(0, "split"), *opened(0, "a third"), *decided(0, way), *approved(0),
        ),
        f"a resolution is approved during a chargeback, {way}": (
            *paid(0), *disputed(0, "buyer"), *opened(0, "a third"), *approved(0), *decided(0, way),
            *refunds(0, "process"),
        ),
        f"a resolution for the vendor during a chargeback, {way}": (
            *paid(0), *disputed(0, "vendor"), *opened(0, "a third"), *approved(0), *decided(0, way),
        ),
        f"a cancelled order is charged back, {way}": (
            *paid(0), steps.cancel(0, "buyer", "back"), D, *opened(0, "a third"), *decided(0, way),
            *refunds(0, "process"), *refunds(0, "process"),
        ),
        f"a refunded order is charged back, {way}": (
            *delivered(0), *opened(0, "a third"), *returning(0), *returned(0), *refunds(0, "process"), *returning(0),
            *returned(0), *decided(0, way),
        ),
        f"a refund fails during a chargeback, {way}": (
            *delivered(0), *returning(0), *returned(0), *opened(0, "a third"), *refunds(0, "fail"),
            *decided(0, way), steps.decide_refunds(0, "retry"), D, *refunds(0, "process"),
        ),
        f"two chargebacks of one order, {way}": (
            *delivered(0), *opened(0, "a third"), *opened(0, "a third"), *decided(0, way),
        ),
        f"a chargeback after one, {way}": (
            *delivered(0), *opened(0, "a third"), *decided(0, way), *opened(0, "a third"), *returning(0),
            *returned(0), *refunds(0, "process"), *decided(0, "win"),
        ),
        f"a line is cancelled, and the order charged back, {way}": (
            *paid(0, lines="two lines", place="a hub"), deliveries.cancel_line(0, "vendor", 1), D,
            *opened(0, "a third"), *refunds(0, "process"), *decided(0, way),
        ),
        f"a released order is charged back before the delivery, {way}": (
            *paid(0), steps.dispatch(0), *opened(0, "a third"), steps.release(0, "all"), D, *decided(0, way),
        ),
        f"a delivered order whose release has not arrived is charged back, {way}": (
            *paid(0), steps.dispatch(0), D, steps.open_chargeback(0, "a third"), steps.decide_chargeback(0, way),
            steps.hand_over(0), steps.send_webhook(0, "once"), steps.send_webhook(0, "once"), steps.deliver_present(),
            D,
        ),
        f"goodwill after a chargeback, {way}": (
            *delivered(0), payments.give_goodwill(0, "a tenth", "approve"), *opened(0), *decided(0, way),
            payments.give_goodwill(0, "a tenth", "approve"), D,
        ),
    }  # fmt: skip


def _each(journey: Journey, *before: Step) -> Journey:
    """Return the journey with these steps before each delivery."""
    return tuple(one for step in journey for one in ((*before, step) if step is D else (step,)))


def _everywhere(way: str, *before: Step) -> Mapping[str, Journey]:
    """Return journeys that publish each event of money, with these steps before each delivery."""
    journeys = {
        "of a purchase": (
            payments.place_purchase(0, 1, 0, 1), D, payments.start_payment(0, "none", "page"),
            payments.pay(0, 0, "exactly"), D, steps.dispatch(0), steps.hand_over(0), D,
            steps.cancel(1, "buyer", "back"), D, *refunds(0, "process"), steps.pass_days(15), D, steps.pass_days(15),
            steps.pass_days(15), D,
        ),
        "of a dispute": (*paid(0), *disputed(0, "split"), *approved(0), *refunds(0, "fail")),
        "of a failed refund": (
            *delivered(0), *returning(0), *returned(0), *refunds(0, "fail"), steps.decide_refunds(0, "retry"), D,
            *refunds(0, "process"), *opened(0), *decided(0, "lose"),
        ),
        "of an order that ends": (
            *placed(0), steps.pass_days(1), D, payments.pay(0, 0, "exactly"), D, steps.place(1, 0, 1, "one line",
            "the vendor's"), D, payments.start_payment(1, "none", "page"), steps.cancel(1, "buyer", "back"), D,
        ),
        "of a quarantined payment": (*placed(0), payments.pay(0, 0, "too little"), D),
        "of payouts": (
            *delivered(0), payouts.request_payout(0, 30), D, *transfer("fail"), *RESET,
            *transfer("succeed", "reverse"),
        ),
    }  # fmt: skip
    return {f"{name}, {way}": _each(journey, *before) for name, journey in journeys.items()}


def _with_ended_access() -> Mapping[str, Journey]:
    """Return the journeys in which the access of a shop's key or packer ends."""
    # The edge claims the key of the request, orders reads the order, and dispatches it.
    lost = faults.kill_at_effect(2, "after")
    by_key = {
        f"a key dispatches, its {end}{', and the response is lost' if before else ''}": (
            *paid(0),
            *before,
            shops.dispatch_by_key(0, end),
            D,
            steps.hand_over(0),
            D,
        )
        for end in get_args(KeyEnd)
        for before in ((), (lost,))
    }
    by_packer = {
        f"a packer is removed {when} the PIN": (*paid(0), steps.dispatch(0), shops.hand_over_by_packer(0, when), D)
        for when in get_args(Removal)
    }
    return by_key | by_packer


STORIES: Final[Mapping[str, Journey]] = {
    **_with_chargeback("lose"),
    **_with_chargeback("win"),
    "a chargeback of a quarantined payment": (
        *placed(0), payments.pay(0, 0, "too little"), D, *opened(0),
    ),
    "an order is paid after its cancellation, and charged back": (
        *overdue(0, ending=(steps.cancel(0, "buyer", "back"), D)), *opened(0),
    ),
    "an order is paid after its end, and charged back": (
        *overdue(0, ending=(steps.pass_days(1),)), *opened(0),
    ),
    "an order ends, is paid too little, and charged back": (
        *placed(0), steps.pass_days(1), D, payments.pay(0, 0, "too little"), D, *opened(0),
    ),
    # Payments receives the charge and its chargeback before the end of the order.
    "an order ends, is paid and charged back before its end arrives": (
        *placed(0), steps.pass_days(1), payments.pay(0, 0, "exactly"), steps.open_chargeback(0, "all"),
        steps.send_webhook(0, "once"), steps.send_webhook(0, "once"), D,
    ),
    "an order that has ended is paid without stock": (
        *overdue(0, ending=(steps.cancel(0, "buyer", "back"), D, steps.sell_out(), D)),
    ),
    "an order is charged back before its cancellation arrives": (
        *placed(0), payments.pay(0, 0, "exactly"), steps.cancel(0, "buyer", "back"), *opened(0),
    ),
    "an overpayment at each stage": (
        *placed(0), steps.decline(0), D, payments.start_payment(0, "none", "page"), payments.pay(0, 0, "exactly"), D,
        payments.pay(0, 1, "exactly"), D, *refunds(0, "process"),
    ),
    "a second payment while dispatched": (
        *placed(0), steps.decline(0), D, payments.start_payment(0, "none", "page"), payments.pay(0, 0, "exactly"), D,
        steps.dispatch(0), payments.pay(0, 1, "exactly"), D,
    ),
    "a second payment when delivered": (
        *placed(0), steps.decline(0), D, payments.start_payment(0, "none", "page"), payments.pay(0, 0, "exactly"), D,
        steps.dispatch(0), steps.hand_over(0), payments.pay(0, 1, "exactly"), steps.send_webhook(0, "once"), D,
    ),
    "a second payment while refunded": (
        *placed(0), steps.decline(0), D, payments.start_payment(0, "none", "page"), payments.pay(0, 0, "exactly"), D,
        steps.cancel(0, "buyer", "back"), payments.pay(0, 1, "exactly"), steps.send_webhook(0, "once"), D,
    ),
    "a quarantined payment, then a whole one, then another": (
        *placed(0), payments.pay(0, 0, "too little"), D, payments.start_payment(0, "none", "page"),
        payments.pay(0, 1, "exactly"), D, payments.pay(0, 1, "too little"), D,
    ),
    "a split is rejected": (*paid(0), *disputed(0, "split"), *approved(0, "reject")),
    "a withdrawal is paid before the response": (
        *WITHDRAWABLE[:-2], faults.fail_creation("success"), *WITHDRAWABLE[-2:],
    ),
    "a withdrawal fails before the response": (
        *WITHDRAWABLE[:-2], faults.fail_creation("failure"), *WITHDRAWABLE[-2:],
    ),
    "a withdrawal is paid before the response, which is lost": (
        *WITHDRAWABLE[:-2], faults.fail_creation("success and no response"), *WITHDRAWABLE[-2:],
    ),
    "a withdrawal fails before the response, which is lost": (
        *WITHDRAWABLE[:-2], faults.fail_creation("failure and no response"), *WITHDRAWABLE[-2:],
    ),
    "a withdrawal is reversed, and paid": (*WITHDRAWABLE, *bank("succeed", "reverse", "succeed")),
    "a withdrawal fails, and is paid": (*WITHDRAWABLE, *bank("fail", "succeed")),
    "a withdrawal is paid, and its webhook is lost": (
        *WITHDRAWABLE, payments.settle_withdrawal(0, 0, "succeed"), steps.drop_webhook(0), steps.pass_days(4), D,
    ),
    "a withdrawal is queried under way, and paid": (*WITHDRAWABLE, steps.pass_days(1), *bank("succeed")),
    "a withdrawal fails and is paid, and the failure arrives last": (
        *WITHDRAWABLE, payments.settle_withdrawal(0, 0, "fail"), payments.settle_withdrawal(0, 0, "succeed"),
        steps.send_webhook(1, "once"), D,
    ),
    **{
        f"a withdrawal is found {outcome} by its first query": (
            *WITHDRAWABLE[:-2], faults.fail_creation("no response after it was processed"), WITHDRAWABLE[-2],
            steps.deliver_present(), *(payments.settle_withdrawal(0, 0, action) for action in actions),
            *(steps.drop_webhook(0) for _ in actions), steps.pass_days(1), D,
        )
        for outcome, actions in _FOUND.items()
    },
    "a payout fails, and is sent again": (*PAYOUT, *transfer("fail"), *RESET, *transfer("succeed")),
    "a payout fails, and an earlier transfer arrives": (
        *PAYOUT, *transfer("fail"), *RESET, payouts.settle_transfer(0, 1, "succeed", "Declined"), D,
    ),
    "a payout is reversed, reset and reversed again": (
        *PAYOUT, *transfer("succeed", "reverse"), *RECONCILED, *transfer("succeed", "reverse"),
    ),
    "a payout is reversed before its success": (*PAYOUT, *transfer("reverse", "succeed", "reverse", "succeed")),
    "a payout is reversed twice": (
        *PAYOUT, *transfer("reverse"), *RESET, *transfer("reverse"), *RECONCILED,
        payouts.settle_transfer(0, 1, "succeed", "Declined"), D,
    ),
    "a payout ends before the response": (*PAYOUT, faults.fail_creation("success"), *transfer("reverse")),
    "a payout fails before the response": (*PAYOUT, faults.fail_creation("failure"), *transfer("succeed")),
    "a payout ends before the response, which is lost": (
        *PAYOUT, faults.fail_creation("success and no response"), *transfer("reverse"),
    ),
    "a payout fails before the response, which is lost": (
        *PAYOUT, faults.fail_creation("failure and no response"), *transfer("succeed"),
    ),
    "a payout is held, and released": (
        *PAYOUT, payouts.hold_payout(0), payouts.dispatch_payout(0), D, payouts.release_payout(0),
        *transfer("succeed"),
    ),
    # What payments publish follows a webhook, or a message of orders.
    **_everywhere(
        "each message twice",
        steps.send_webhook(0, "once"),
        steps.duplicate_everything(),
        *(steps.deliver_newest(), steps.duplicate_everything()) * 2,
    ),
    **_everywhere("acknowledgements lost", faults.drop_acknowledgements()),
    **_everywhere("the newest message first", *(steps.deliver_newest(),) * 4),
    **{
        f"a refund ends before the response: {fault}": (
            *paid(0), faults.fail_creation(fault), steps.cancel(0, "buyer", "back"), D,
        )
        for fault in ("success", "failure", "success and no response", "failure and no response")
    },
    "a cancellation arrives before its order": (
        *placed(0)[:1], steps.cancel(0, "buyer", "back"), steps.deliver_newest(), D,
    ),
    "an expiry arrives before its order": (*placed(0)[:1], steps.pass_days(1), steps.deliver_newest(), D),
    **{
        f"the end of a refund arrives before the refund: {action}": (
            *paid(0), steps.hold_service("orders", 20), steps.cancel(0, "buyer", "back"), steps.deliver_present(),
            steps.settle_refunds(0, action), steps.deliver_present(), steps.wait(30),
            *(steps.deliver_newest(),) * 4, D,
        )
        for action in ("process", "fail")
    },
    "a release before a chargeback arrives": (
        *paid(0), steps.dispatch(0), D, steps.hold_service("orders", 20), steps.release(0, "all"),
        steps.open_chargeback(0, "a third"), steps.deliver_present(), D, *decided(0, "lose"),
    ),
    "of two refunds the second fails": (
        *delivered(0), *returning(0), *returned(0), *refunds(0, "process"), *returning(0), *returned(0),
        *refunds(0, "fail"),
    ),
    "of two refunds the first fails": (
        *delivered(0), *returning(0), *returned(0), *refunds(0, "fail"), *returning(0), *returned(0),
        *refunds(0, "process"),
    ),
    "of two refunds under way one fails": (
        *delivered(0), *returning(0), *returned(0), *returning(0), faults.fail_creation("failure"), *returned(0),
        *refunds(0, "process"),
    ),
    "a refund beside a quarantined payment": (
        *placed(0), payments.pay(0, 0, "too little"), D, payments.start_payment(0, "none", "page"),
        payments.pay(0, 1, "exactly"), D, steps.cancel(0, "buyer", "back"), D, *refunds(0, "process"),
    ),
    "a payout is reversed while two people decide": (
        *PAYOUT, *transfer("succeed", "reverse"), payouts.prepare_reconciliation(0),
        payouts.settle_transfer(0, 0, "succeed", "Declined"), D, payouts.settle_transfer(0, 0, "reverse", "Declined"),
        D,
    ),
    "a reset payout is reversed twice": (
        *PAYOUT, *transfer("fail"), *RESET, *transfer("succeed", "reverse"),
        payouts.settle_transfer(0, 1, "succeed", "Declined"), D, steps.pass_days(1),
        payouts.settle_transfer(0, 1, "reverse", "Declined"), D, steps.pass_days(1), D,
    ),
    **WITH_FAULTS,
    "all escrows are published again, and arrive twice": (
        *paid(0), payments.publish_escrows(), steps.duplicate_everything(), D,
    ),
    "all escrows are published again, and acknowledgements are lost": (
        *paid(0), payments.publish_escrows(), faults.drop_acknowledgements(), D,
    ),
    "a release arrives before the payment": (
        *placed(0), steps.hold_service("orders", 20), payments.pay(0, 0, "exactly"), steps.deliver_present(),
        steps.release(0, "all"), steps.deliver_present(), steps.wait(30), steps.deliver_newest(),
        steps.deliver_newest(), D,
    ),
    "a chargeback beside a quarantined payment": (
        *placed(0), steps.decline(0), D, payments.start_payment(0, "none", "page"), payments.pay(0, 0, "exactly"), D,
        payments.pay(0, 1, "too little"), D, *opened(0),
    ),
    "a chargeback is won while a refund has no response": (
        *delivered(0), *opened(0, "a third"), *returning(0), faults.fail_creation("no response"),
        steps.decide_return(0, "approve"), steps.deliver_present(), steps.decide_chargeback(0, "win"),
        steps.send_webhook(0, "once"), steps.deliver_present(), D,
    ),
    "a payout fails, two people decide, and it is sent again, paid and reversed": (
        *PAYOUT, *transfer("fail"), payouts.prepare_reconciliation(0), *RESET, *transfer("succeed", "reverse"),
    ),
    "the second transfer of a payout is reversed, and the first one paid and reversed": (
        *PAYOUT, *transfer("fail"), *RESET, steps.pass_days(1), D,
        payouts.settle_transfer(0, 0, "reverse", "Declined"), D, steps.pass_days(1), D,
        payouts.settle_transfer(0, 1, "succeed", "Declined"), D, steps.pass_days(1), D,
        payouts.settle_transfer(0, 1, "reverse", "Declined"), D, steps.pass_days(1), D,
    ),
    "a decision about a refund is rejected": (
        *delivered(0), *returning(0), *returned(0), *refunds(0, "fail"), steps.decide_refunds(0, "reject"), D,
    ),
    "a decision about a refund is overtaken": (
        *delivered(0), *returning(0), *returned(0), *refunds(0, "fail"),
        steps.decide_refunds(0, "pay to an account"), D, steps.settle_refund_transfer(0, "reverse"), D,
        steps.decide_refunds(0, "prepare"), steps.settle_refund_transfer(0, "succeed"), D, steps.pass_days(1), D,
    ),
    "a decision about a PIN expires": (
        *paid(0), deliveries.lock_pin(0), deliveries.decide_reissue(0, "prepare"), steps.pass_days(1),
        deliveries.decide_reissue(0, "approve"), D,
    ),
    "a parcel is collected at the hub with a reissued PIN": (
        *paid(0, place="a hub"), steps.dispatch(0), deliveries.arrive(0), D, deliveries.lock_pin(0),
        deliveries.decide_reissue(0, "approve"), D, deliveries.hand_over_at_hub(0), D,
    ),
    **_with_ended_access(),
    "both lines are cancelled": (
        *paid(0, lines="two lines"), deliveries.cancel_line(0, "vendor", 0), D,
        deliveries.cancel_line(0, "staff", 1), D,
    ),
}  # fmt: skip
"""Each journey is about order 0, payout 0 and buyer 0."""
