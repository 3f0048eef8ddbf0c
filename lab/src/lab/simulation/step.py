"""A step of a plan: a value with a sentence, made of one function. Running it returns its outcome."""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

from lab.simulation.run import OrderRecord, Run

ABSENT: Final = "-"
"""The outcome of a step without its subject."""

OrderNumber = Annotated[int, range(6)]
Order = Annotated[OrderRecord, range(6)]
"""An order of the run by its number."""
PayoutNumber = Annotated[int, range(2)]
Payout = Annotated[str, range(2)]
"""The id of a payout of the run by its number."""
Pick = Annotated[int, range(1000)]
"""Chooses among what is there at that moment, by the remainder."""


class Absent(Exception):
    """The subject of a step is not there."""


@dataclass(frozen=True, eq=False)
class StepKind:
    """One kind of step: a text with the names of its fields in braces, and the function that runs it."""

    text: str
    function: Callable[..., Awaitable[str]]
    choices: Mapping[str, Sequence[Any]]
    """The values of each field."""
    subjects: Mapping[str, type]
    """The fields that number an order or a payout."""

    def __call__(self, *values: Any, **named: Any) -> "Step":
        fields = dict(zip(self.choices, values, strict=False)) | named
        return Step(self, tuple(fields[name] for name in self.choices))

    def draw(self, random: Random, **given: Any) -> "Step":
        """Return a step with random values, except the given ones."""
        return self(**{name: given.get(name, random.choice(among)) for name, among in self.choices.items()})


@dataclass(frozen=True, slots=True)
class Step:
    """One step, with the values of its fields in their order."""

    kind: StepKind
    values: tuple[Any, ...]

    @property
    def sentence(self) -> str:
        return self.kind.text.format(**dict(zip(self.kind.choices, self.values, strict=True)))

    async def run(self, run: Run) -> str:
        """Return what happened, or `ABSENT`."""
        given = dict(zip(self.kind.choices, self.values, strict=True))
        for name, kind in self.kind.subjects.items():
            records: Mapping[int, Any] = run.orders if kind is OrderRecord else run.payouts
            if given[name] not in records:
                return ABSENT
            given[name] = records[given[name]]
        try:
            return await self.kind.function(run, **given)
        except Absent:
            return ABSENT


def step(text: str) -> Callable[[Callable[..., Awaitable[str]]], StepKind]:
    """Make a kind of step of a function, whose parameters after the run are its fields."""

    def kind_of(function: Callable[..., Awaitable[str]]) -> StepKind:
        hints = get_type_hints(function, include_extras=True)
        fields = {name: hints[name] for name in list(inspect.signature(function).parameters)[1:]}
        subjects = {name: get_args(hint)[0] for name, hint in fields.items() if hint in (Order, Payout)}
        choices = {
            name: get_args(hint)[1] if get_origin(hint) is Annotated else get_args(hint)
            for name, hint in fields.items()
        }
        return StepKind(text, function, choices, subjects)

    return kind_of


def chosen(pick: int, among: Sequence[Any]) -> Any:
    """One of them by the remainder. Raises Absent when there are none."""
    if not among:
        raise Absent
    return among[pick % len(among)]
