"""A plan from a seed: the journeys of some orders and payouts, interleaved, with steps of the schedule and faults
between.
"""

from collections.abc import Sequence
from functools import partial
from random import Random
from typing import Final

from lab.simulation import deliveries, faults, payments, payouts, shops, steps
from lab.simulation.drawing import FOCUSES, Focus, at, delivered, failed_call, interleaved, weighted
from lab.simulation.step import Step, StepKind
from lab.simulation.stories import STORIES

Plan = tuple[Step, ...]

_ORDERS_MAX: Final = 3
_PURCHASE_RATE: Final = 0.35
_PAYOUTS_MAX: Final = 2
# Steps of the schedule between two of a journey, by weight.
_SCHEDULED: Final[Sequence[tuple[StepKind, int]]] = (
    (steps.relay, 16),
    (steps.deliver_messages, 24),
    (steps.send_webhook, 10),
    (steps.run_timer, 8),
    (steps.wait, 3),
    (steps.duplicate_message, 2),
    (steps.hold_queue, 1),
    (steps.drop_webhook, 1),
)
_REPEATED: Final[Sequence[tuple[StepKind, int]]] = (
    (steps.duplicate_message, 6),
    (steps.duplicate_everything, 12),
    (steps.deliver_newest, 4),
    (faults.drop_acknowledgements, 4),
    (steps.deliver_present, 6),
    (faults.drop_connection, 4),
    (faults.kill_at_effect, 4),
)
_FAULTS: Final[Sequence[tuple[StepKind, int]]] = (
    (faults.fail_call, 4),
    (faults.fail_creation, 4),
    (faults.kill, 2),
    (faults.kill_at_effect, 2),
    (faults.kill_twice, 3),
    (faults.kill_two, 2),
    (faults.drop_connection, 4),
)
_SCHEDULED_MAX: Final = 4
FIRST_STORY: Final = -len(STORIES)
_STORY_RATE: Final = 0.3


_WITHDRAWAL_RATE: Final = 0.3
_ERASURE_RATE: Final = 0.4


def plan_of(seed: int, *, has_everyone: bool = False) -> Plan:
    """Return the plan of a seed, always the same; of one from `FIRST_STORY` to -1 a story by itself. `has_everyone`:
    sometimes a user requests the erasure of the account.
    """
    if seed < 0:
        return tuple([*STORIES.values()][seed])
    random = Random(seed)
    focus = random.choice(FOCUSES)
    journeys = [_order(random, focus, number) for number in range(random.randint(1, _ORDERS_MAX))]
    if random.random() < _PURCHASE_RATE:
        journeys[-1] = _purchase(random, focus, len(journeys) - 1)
    journeys += [_withdrawal(random, focus, buyer) for buyer in range(2) if random.random() < _WITHDRAWAL_RATE]
    if random.random() < _STORY_RATE:
        journeys[0] = [*random.choice([*STORIES.values()])]
    sent = [_payout(random, focus, number) for number in range(random.randint(focus.payouts, _PAYOUTS_MAX))]
    journey = (
        [*interleaved(random, journeys), *interleaved(random, sent)]
        if random.random() < 0.7
        else (interleaved(random, [*journeys, *sent]))
    )
    plan: list[Step] = []
    # Some schedules are calm, so that journeys reach their end; others are hostile.
    fault_rate = 0.3 if focus.hostile else random.choice((0.0, 0.05, 0.2))
    everything_rate = random.choice((0.1, 0.5, 0.9))
    scheduled = (*_SCHEDULED, *_REPEATED) if focus.hostile else _SCHEDULED
    for step in journey:
        plan += [weighted(random, scheduled).draw(random) for _ in range(random.randint(0, _SCHEDULED_MAX))]
        # A fault meets the messages that follow the last step, or the next step.
        if random.random() < fault_rate:
            plan.append(weighted(random, _FAULTS).draw(random))
        if random.random() < everything_rate:
            plan.append(steps.deliver_everything())
        if random.random() < fault_rate:
            plan.append(weighted(random, _FAULTS).draw(random))
        plan.append(step)
    if has_everyone and random.random() < _ERASURE_RATE:
        plan.insert(random.randint(0, len(plan)), steps.request_erasure.draw(random))
    return tuple(plan)


def _order(random: Random, focus: Focus, number: int) -> list[Step]:
    """One order: paid, or not; delivered, or cancelled, disputed or forgotten; and what follows."""
    journey = [*_checkout(random, number), *_payment(random, number), *delivered(random)]
    return _followed(random, focus, number, [*journey, *_fulfilment(random, focus, number)])


def _purchase(random: Random, focus: Focus, number: int) -> list[Step]:
    """One purchase of two vendors: an order may be cancelled before or after the payment; each has its own end."""
    other = number + 1
    cancel = steps.cancel.draw(random, order=other)
    journey = [
        payments.place_purchase.draw(random, order=number, other=other),
        *at(random, 0.9, [steps.deliver_everything()]),
        *at(random, 0.2, [cancel, *delivered(random)]),
        _opened(random, number),
        *at(random, 0.15, [cancel, *at(random, 0.7, [steps.deliver_everything(), _opened(random, number)])]),
        *_payment(random, number),
        *delivered(random),
    ]
    follow = [_fulfilment(random, focus, number), [*at(random, 0.3, [cancel]), *_fulfilment(random, focus, other)]]
    return _followed(random, focus, random.choice((number, other)), [*journey, *interleaved(random, follow)])


def _followed(random: Random, focus: Focus, number: int, journey: list[Step]) -> list[Step]:
    """Return the journey of an order with later payments, returns, chargebacks, refunds and repeated steps."""
    if random.random() < focus.second_payments:
        place = random.randint(min(2, len(journey)), len(journey))
        journey[place:place] = _paid_again(random, number)
    journey += at(random, 0.8 if focus.unhappy else 0.3, _returned(random, number))
    for _ in range(random.choices((0, 1, 2), focus.chargebacks)[0]):
        place = random.randint(min(3, len(journey)), len(journey))
        journey[place:place] = _charged_back(random, number)
        journey += at(random, 0.7, [steps.decide_chargeback.draw(random, order=number)])
    journey += at(random, focus.refunds, _refunded(random, focus, number))
    if random.random() < 0.3:
        journey.insert(random.randint(min(5, len(journey)), len(journey)), steps.pass_days.draw(random))
    # A step again, soon or at any later time.
    for _ in range(random.choices((0, 1, 3), (6, 3, 1))[0]):
        first = random.randrange(len(journey))
        last = random.choice((min(first + 2, len(journey)), len(journey)))
        journey.insert(random.randint(first, last), journey[first])
    return journey


def _checkout(random: Random, number: int) -> list[Step]:
    """Return an order with an open payment, sometimes cancelled, declined or forgotten before it is paid."""
    return [
        steps.place.draw(random, order=number),
        *at(random, 0.9, [steps.deliver_everything()]),
        _opened(random, number),
        *at(random, 0.3, [steps.deliver_everything(), _opened(random, number)]),
        *at(random, 0.1, [steps.cancel.draw(random, order=number, by="buyer")]),
        *at(random, 0.1, [steps.decline(number), _opened(random, number)]),
        *at(random, 0.1, [steps.pass_days.draw(random)]),
    ]


def _opened(random: Random, number: int) -> Step:
    """Return the opening of a payment, in some plans by bank transfer or with a part of the balance."""
    balance = random.choices(("none", "half", "all"), (4, 1, 1))[0]
    channel = random.choices(("page", "bank_transfer"), (3, 1))[0]
    return payments.start_payment(number, balance, channel)


def _payment(random: Random, number: int) -> list[Step]:
    terms = random.choices(("exactly", "too little", "too much", "twice", "not"), (14, 2, 2, 2, 2))[0]
    sold_out = at(random, 0.1, [steps.sell_out()])
    if terms == "twice":
        again = [
            *at(random, 0.3, [payments.end_accounts()]),
            _opened(random, number),
            *delivered(random),
        ]
        return [
            *at(random, 0.5, [steps.decline(number), *again]),
            payments.pay(number, 0, "exactly"),
            *at(random, 0.3, [steps.deliver_everything()]),
            *at(random, 0.5, again),
            payments.pay.draw(random, order=number, attempt=random.choice((0, 1))),
        ]
    if terms == "not":
        return sold_out
    paid: list[Step] = [
        *at(random, 0.05, [payments.end_accounts()]),
        *sold_out,
        payments.pay.draw(random, order=number, terms=terms),
    ]
    if terms == "too little":
        paid += at(random, 0.7, [steps.deliver_everything(), steps.decide_quarantined.draw(random)])
    return paid


def _paid_again(random: Random, number: int) -> list[Step]:
    """Return a further payment: declined, paid by another page, or a second transfer to the same account."""
    opened = payments.start_payment(number, random.choice(("none", "half")), random.choice(("page", "bank_transfer")))
    return [
        *at(random, 0.5, [opened]),
        *at(random, 0.4, [steps.decline(number)]),
        *at(random, 0.3, [steps.send_webhook.draw(random)]),
        payments.pay.draw(random, order=number),
        *at(random, 0.5, [payments.pay.draw(random, order=number)]),
    ]


def _fulfilment(random: Random, focus: Focus, number: int) -> list[Step]:
    """Return how a paid order ends, sometimes without one of its lines, and with goodwill."""
    return [
        *at(random, 0.15, [deliveries.cancel_line.draw(random, order=number), *delivered(random)]),
        *_ended(random, focus, number),
        *at(random, 0.15, [*delivered(random), payments.give_goodwill.draw(random, order=number)]),
    ]


def _ended(random: Random, focus: Focus, number: int) -> list[Step]:
    options: Sequence[list[Step]] = (
        [steps.dispatch(number), steps.hand_over(number)],
        [steps.hand_over(number)],
        [steps.dispatch(number), *_collected(random, number)],
        [steps.cancel.draw(random, order=number)],
        [steps.dispatch(number), steps.cancel.draw(random, order=number)],
        _disputed(random, number),
        [steps.dispatch(number), *_disputed(random, number)],
        [steps.release.draw(random, order=number), steps.hand_over(number)],
        [steps.dispatch(number), steps.release(number, "all"), *at(random, 0.5, _disputed(random, number))],
        [],
        [shops.dispatch_by_key.draw(random, order=number), shops.hand_over_by_packer.draw(random, order=number)],
    )
    weights = (2, 1, 1, 4, 3, 4, 4, 1, 2, 1, 2) if focus.unhappy else (9, 3, 3, 2, 1, 2, 2, 1, 1, 1, 3)
    return random.choices(options, weights)[0]


def _collected(random: Random, number: int) -> list[Step]:
    """Return the steps to the buyer's hands by the hub, with PINs that are locked or replaced."""
    return [
        *at(random, 0.7, [deliveries.arrive(number), *delivered(random)]),
        *at(random, 0.3, [deliveries.reissue_pin(number)]),
        *at(random, 0.3, [deliveries.lock_pin(number), deliveries.decide_reissue.draw(random, order=number)]),
        random.choice((deliveries.hand_over_at_hub, steps.hand_over))(number),
    ]


def _disputed(random: Random, number: int) -> list[Step]:
    return [
        steps.dispute.draw(random, order=number),
        steps.resolve_dispute.draw(random, order=number),
        steps.decide_resolution.draw(random, order=number),
    ]


def _returned(random: Random, number: int) -> list[Step]:
    """Return the steps of one return, or of two of them."""
    decide = [steps.return_piece.draw(random, order=number), steps.decide_return.draw(random, order=number)]
    return [*decide, *at(random, 0.4, random.choice((decide, decide[1:])))]


def _charged_back(random: Random, number: int) -> list[Step]:
    """Return the steps of a chargeback, sometimes with a response, a decision and its revision."""
    return [
        steps.open_chargeback.draw(random, order=number),
        *at(random, 0.3, [steps.deliver_everything(), steps.respond_to_chargeback.draw(random, order=number)]),
        *at(random, 0.4, [steps.deliver_everything(), steps.decide_chargeback.draw(random, order=number)]),
        *at(random, 0.2, _revised(random, number)),
    ]


def _revised(random: Random, number: int) -> list[Step]:
    """Return a decision of the bank and its contrary, which a query finds."""
    first, second = random.choice((("lose", "overturn"), ("win", "revoke")))
    query = steps.pass_days(random.choice((1, 4)))
    return [
        steps.decide_chargeback(number, first),
        steps.deliver_everything(),
        steps.decide_chargeback(number, second),
        *at(random, 0.8, [query]),
    ]


def _refunded(random: Random, focus: Focus, number: int) -> list[Step]:
    """Return the steps of refunds at the bank, sometimes with a decision about the failed ones."""
    settled = at(random, focus.failed_calls, failed_call(random)) + at(random, 0.5, [steps.deliver_everything()])
    settled += [steps.settle_refunds.draw(random, order=number)]
    for _ in range(random.choices((0, 1, 2), (3, 2, 1) if focus.refunds < 1 else (1, 2, 3))[0]):
        settled += [*delivered(random), steps.decide_refunds.draw(random, order=number)]
        settled += [*delivered(random), steps.settle_refunds.draw(random, order=number)]
        settled += at(random, 0.7, [steps.settle_refund_transfer.draw(random, order=number)])
        settled += at(random, 0.3, [steps.settle_refund_transfer.draw(random, order=number)])
    return settled


def _withdrawal(random: Random, focus: Focus, buyer: int) -> list[Step]:
    """Return an order of the buyer whose refund goes to the balance, its withdrawal, and what the bank does with it."""
    # After the numbers of all other orders.
    number = _ORDERS_MAX + 1 + buyer
    settle = partial(payments.settle_withdrawal.draw, random, buyer=buyer)
    bank = random.choice(
        (
            [settle(action="succeed")],
            [settle(action="fail")],
            [settle(action="succeed"), steps.deliver_everything(), settle(action="reverse")],
            [settle(action="fail"), steps.deliver_everything(), settle(action="succeed")],
        )
    )
    return [
        steps.place.draw(random, order=number, buyer=buyer),
        *delivered(random),
        payments.start_payment(number, "none", "page"),
        payments.pay(number, 0, "exactly"),
        steps.deliver_everything(),
        steps.cancel(number, "buyer", "to the balance"),
        *delivered(random),
        *at(random, 0.8, [payments.withdraw.draw(random, buyer=buyer)]),
        *at(random, 0.8, [payments.decide_withdrawal.draw(random, buyer=buyer)]),
        *at(random, 0.3, [payments.decide_withdrawal.draw(random, buyer=buyer)]),
        *at(random, focus.failed_calls, failed_call(random)),
        *delivered(random),
        *bank,
        *delivered(random),
        *at(random, 0.3, [payments.withdraw.draw(random, buyer=buyer)]),
    ]


def _payout(random: Random, focus: Focus, number: int) -> list[Step]:
    """One payout: sent, and what the bank does with it."""
    journey: list[Step] = [
        *delivered(random),
        payouts.request_payout.draw(random, payout=number),
    ]
    if random.random() < 0.1:
        return [*journey, payouts.cancel_payout(number)]
    journey += [
        *delivered(random),
        *at(random, 0.15, [payouts.hold_payout(number), *at(random, 0.5, [payouts.release_payout(number)])]),
        *at(random, focus.failed_calls, failed_call(random)),
        payouts.dispatch_payout(number),
        *delivered(random),
    ]
    bank = partial(_at_bank, random, number)
    reset, reconcile = payouts.reset_payout(number), payouts.reconcile_payout(number)
    follow = random.choice(
        (
            bank(),
            bank() + bank(),
            [*bank("fail"), reset, *bank(), *bank()],
            [*bank("fail"), reconcile, *bank("succeed")],
            [*bank("succeed"), *bank("reverse"), reconcile, *bank(), *bank()],
            [*bank("reverse"), reset, *bank("succeed"), reconcile],
            [*bank("succeed"), *bank("reverse"), *bank("succeed")],
        )
    )
    journey += follow
    if random.random() < 0.2:
        journey.insert(random.randint(1, len(journey)), steps.pass_days.draw(random))
    return journey


def _at_bank(random: Random, number: int, action: str | None = None) -> list[Step]:
    """Return what the bank does with an attempt of the payout, usually with its messages."""
    given = {} if action is None else {"action": action}
    step = payouts.settle_transfer.draw(random, payout=number, **given)
    return [step, *delivered(random)]
