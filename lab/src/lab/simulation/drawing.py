"""Draws of all journeys of a plan from its seed: a focus, deliveries, faults, and the sequence of steps."""

from collections.abc import Sequence
from random import Random
from typing import Final, NamedTuple, TypeVar

from lab.simulation import faults, steps
from lab.simulation.step import Step

Item = TypeVar("Item")


class Focus(NamedTuple):
    """The rates of what a plan may have more of, and the weights of 0, 1 and 2 chargebacks of an order.

    `hostile`: messages twice, lost connections and deaths, in each schedule. `unhappy`: cancellations, disputes and
    returns.
    """

    refunds: float = 0.5
    chargebacks: Sequence[int] = (12, 3, 1)
    second_payments: float = 0.1
    failed_calls: float = 0.2
    payouts: int = 0
    hostile: bool = False
    unhappy: bool = False


FOCUSES: Final[Sequence[Focus]] = (
    Focus(),
    Focus(refunds=1.0, failed_calls=0.5),
    Focus(refunds=1.0, chargebacks=(1, 3, 3)),
    Focus(second_payments=0.7, refunds=0.7),
    Focus(failed_calls=0.8, payouts=2),
    Focus(hostile=True),
    Focus(hostile=True, chargebacks=(2, 3, 1), payouts=1),
    Focus(unhappy=True, refunds=0.8, chargebacks=(3, 2, 1)),
)


def at(random: Random, rate: float, journey: list[Step]) -> list[Step]:
    """Return the steps, in this part of the plans."""
    return journey if random.random() < rate else []


def delivered(random: Random) -> list[Step]:
    """Return the usual delivery: of all, with the time of delayed messages, or of what is due now; or none."""
    return random.choices(([steps.deliver_everything()], [steps.deliver_present()], []), (6, 2, 2))[0]


def failed_call(random: Random) -> list[Step]:
    """Return a fault of the next call, or of the next one that creates a refund or a transfer."""
    return [random.choice((faults.fail_call, faults.fail_creation)).draw(random)]


def interleaved(random: Random, sequences: Sequence[Sequence[Step]]) -> list[Step]:
    """Merge the sequences, each in its own order. Some plans mostly follow one, so that fewer orders expire."""
    left = [list(sequence) for sequence in sequences if sequence]
    merged: list[Step] = []
    stay_rate = random.choice((0.0, 0.8, 0.95))
    chosen: list[Step] = []
    while left:
        if not chosen or random.random() >= stay_rate:
            chosen = random.choice(left)
        merged.append(chosen.pop(0))
        left = [sequence for sequence in left if sequence]
    return merged


def weighted(random: Random, among: Sequence[tuple[Item, int]]) -> Item:
    return random.choices([item for item, _ in among], [weight for _, weight in among])[0]
