"""A plan from a seed: the journeys of some orders and payouts, interleaved, with steps of the schedule and faults between."""

from collections.abc import Sequence
from random import Random
from typing import Final, TypeVar

from lab.simulation.steps import (
    Cancel,
    CancelPayout,
    CheckOut,
    DecideChargeback,
    DecideResolution,
    DecideReturn,
    Decline,
    DeliverEverything,
    DeliverMessages,
    DeliverTwice,
    Dispatch,
    DispatchPayout,
    Dispute,
    DropConnection,
    DropWebhook,
    FailCall,
    HandOver,
    HoldQueue,
    Kill,
    KillAtEffect,
    OpenChargeback,
    OpenPayment,
    PassDays,
    Pay,
    ReconcilePayout,
    Relay,
    ReleaseByStaff,
    RequestErasure,
    RequestPayout,
    RequestReturn,
    ResetPayout,
    Resolve,
    RunTimer,
    SendWebhook,
    SettleRefunds,
    SettleTransfer,
    Step,
    Wait,
    draw,
)

Plan = tuple[Step, ...]
Item = TypeVar("Item")

_ORDERS_MAX: Final = 4
_PAYOUTS_MAX: Final = 2
# Steps of the schedule between two of a journey, by weight.
_SCHEDULED: Final[Sequence[tuple[type[Step], int]]] = (
    (Relay, 16),
    (DeliverMessages, 24),
    (SendWebhook, 10),
    (RunTimer, 8),
    (Wait, 3),
    (DeliverTwice, 2),
    (HoldQueue, 1),
    (DropWebhook, 1),
)
_FAULTS: Final[Sequence[tuple[type[Step], int]]] = (
    (FailCall, 6),
    (Kill, 2),
    (KillAtEffect, 4),
    (DropConnection, 4),
)
_SCHEDULED_MAX: Final = 6
_ERASURE_RATE: Final = 0.4


def plan_of(seed: int, *, has_everyone: bool = False) -> Plan:
    """Return the plan of a seed, always the same. `has_everyone`: sometimes a user requests the erasure of the account."""
    random = Random(seed)
    journeys = [_order(random, number) for number in range(random.randint(1, _ORDERS_MAX))]
    payouts = [_payout(random, number) for number in range(random.randint(0, _PAYOUTS_MAX))]
    steps = (
        [*_interleaved(random, journeys), *_interleaved(random, payouts)]
        if random.random() < 0.5
        else (_interleaved(random, [*journeys, *payouts]))
    )
    plan: list[Step] = []
    # Some schedules are calm, so that journeys reach their end; others are hostile.
    fault_rate = random.choice((0.0, 0.05, 0.2))
    everything_rate = random.choice((0.1, 0.5, 0.9))
    for step in steps:
        plan += [draw(_weighted(random, _SCHEDULED), random) for _ in range(random.randint(0, _SCHEDULED_MAX))]
        if random.random() < everything_rate:
            plan.append(DeliverEverything())
        if random.random() < fault_rate:
            plan.append(draw(_weighted(random, _FAULTS), random))
        plan.append(step)
    if has_everyone and random.random() < _ERASURE_RATE:
        plan.insert(random.randint(0, len(plan)), draw(RequestErasure, random))
    return tuple(plan)


def _order(random: Random, number: int) -> list[Step]:
    """One order: paid, or not; delivered, or cancelled, disputed or forgotten; and what follows."""
    steps = [*_checkout(random, number), *_payment(random, number), *_usually(random, DeliverEverything())]
    steps += _fulfilment(random, number)
    steps += _at(random, 0.3, [RequestReturn(number), draw(DecideReturn, random, order=number)])
    if random.random() < 0.25:
        steps.insert(random.randint(min(3, len(steps)), len(steps)), draw(OpenChargeback, random, order=number))
        steps.append(draw(DecideChargeback, random, order=number))
    steps += _at(random, 0.5, [draw(SettleRefunds, random, order=number)])
    if random.random() < 0.3:
        steps.insert(random.randint(2, len(steps)), draw(PassDays, random))
    if random.random() < 0.15:
        steps.insert(random.randint(1, len(steps)), random.choice(steps))
    return steps


def _checkout(random: Random, number: int) -> list[Step]:
    """Return an order with an open payment, sometimes cancelled, declined or forgotten before it is paid."""
    return [
        draw(CheckOut, random, order=number),
        *_usually(random, DeliverEverything()),
        OpenPayment(number),
        *_at(random, 0.1, [Cancel(number, "buyer")]),
        *_at(random, 0.1, [Decline(number), OpenPayment(number)]),
        *_at(random, 0.1, [draw(PassDays, random)]),
    ]


def _payment(random: Random, number: int) -> list[Step]:
    terms = random.choices(("exactly", "too little", "too much", "twice", "not"), (14, 1, 2, 1, 2))[0]
    if terms == "twice":
        return [Pay(number, 0, "exactly"), Pay(number, 1, "exactly")]
    return [] if terms == "not" else [draw(Pay, random, order=number, terms=terms)]


def _fulfilment(random: Random, number: int) -> list[Step]:
    options: Sequence[list[Step]] = (
        [Dispatch(number), HandOver(number)],
        [HandOver(number)],
        [draw(Cancel, random, order=number)],
        [Dispatch(number), draw(Cancel, random, order=number)],
        _disputed(random, number),
        [Dispatch(number), *_disputed(random, number)],
        [draw(ReleaseByStaff, random, order=number), HandOver(number)],
        [],
    )
    return random.choices(options, (12, 3, 2, 1, 2, 2, 1, 1))[0]


def _at(random: Random, rate: float, steps: list[Step]) -> list[Step]:
    """Return the steps, in this part of the plans."""
    return steps if random.random() < rate else []


def _usually(random: Random, step: Step) -> list[Step]:
    return _at(random, 0.8, [step])


def _disputed(random: Random, number: int) -> list[Step]:
    return [Dispute(number), draw(Resolve, random, order=number), draw(DecideResolution, random, order=number)]


def _payout(random: Random, number: int) -> list[Step]:
    """One payout: sent, and what the bank does with it."""
    steps: list[Step] = [*_usually(random, DeliverEverything()), draw(RequestPayout, random, payout=number)]
    if random.random() < 0.1:
        return [*steps, CancelPayout(number)]
    steps += [
        *_usually(random, DeliverEverything()),
        DispatchPayout(number),
        draw(SettleTransfer, random, payout=number),
    ]
    follow = random.choices(
        (
            [],
            [draw(SettleTransfer, random, payout=number)],
            [ResetPayout(number), draw(SettleTransfer, random, payout=number)],
            [ReconcilePayout(number)],
            [SettleTransfer(number, "reverse"), ReconcilePayout(number)],
        ),
        (4, 2, 2, 1, 1),
    )[0]
    steps += follow
    if random.random() < 0.2:
        steps.insert(random.randint(1, len(steps)), draw(PassDays, random))
    return steps


def _interleaved(random: Random, sequences: Sequence[Sequence[Step]]) -> list[Step]:
    """All steps, each sequence in its own order."""
    left = [list(sequence) for sequence in sequences if sequence]
    merged: list[Step] = []
    while left:
        chosen = random.choice(left)
        merged.append(chosen.pop(0))
        left = [sequence for sequence in left if sequence]
    return merged


def _weighted(random: Random, among: Sequence[tuple[Item, int]]) -> Item:
    return random.choices([item for item, _ in among], [weight for _, weight in among])[0]
