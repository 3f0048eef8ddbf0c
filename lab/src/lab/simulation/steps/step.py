"""A step of a plan: a value with a sentence; `run` returns its outcome."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from random import Random
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args, get_origin, get_type_hints

from lab.simulation.story import OrderStory, Story

OrderNumber = Annotated[int, range(4)]
PayoutNumber = Annotated[int, range(2)]
Pick = Annotated[int, range(1000)]
"""Chooses among what is there at that moment, by the remainder."""
StepT = TypeVar("StepT", bound="Step")

ABSENT = "-"


@dataclass(frozen=True, slots=True)
class Step(ABC):
    """One step: `text` with the names of its fields in braces is its sentence."""

    text: ClassVar[str] = ""

    @property
    def sentence(self) -> str:
        return self.text.format(**{one.name: getattr(self, one.name) for one in fields(self)})

    @abstractmethod
    async def run(self, story: Story) -> str:
        """Do it; returns what happened, or `ABSENT` without its subject."""


def draw(kind: type[StepT], random: Random, **given: Any) -> StepT:
    """Return a step with values of its fields' types, except the given ones."""
    hints = get_type_hints(kind, include_extras=True)
    values = {one.name: given.get(one.name, _value(hints[one.name], random)) for one in fields(kind)}
    return kind(**values)


def _value(hint: Any, random: Random) -> Any:
    if get_origin(hint) is Annotated:
        return random.choice(get_args(hint)[1])
    if get_origin(hint) is Literal:
        return random.choice(get_args(hint))
    raise TypeError(f"no values of {hint}")


def chosen(pick: int, among: Sequence[Any]) -> Any:
    """One of them by the remainder; None of an empty sequence."""
    return among[pick % len(among)] if among else None


@dataclass(frozen=True, slots=True)
class OfOrder(Step):
    """A step about an order of the run."""

    order: OrderNumber

    async def run(self, story: Story) -> str:
        found = story.orders.get(self.order)
        return ABSENT if found is None else await self.of(story, found)

    @abstractmethod
    async def of(self, story: Story, order: OrderStory) -> str: ...


async def act(story: Story, path: str, body: dict[str, Any] | None = None) -> str:
    """Let a bank or a payer act at the gateway; returns the HTTP status."""
    response = await story.market.sandbox.post(f"/control/{path}", json=body or {})
    return str(response.status_code)
