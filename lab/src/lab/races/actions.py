"""Parts of a race: situations, and the actions that are possible in each of them."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import httpx

from lab.races.marketplace import RacingMarketplace
from lab.stepped.actions import Command, Facts
from lab.stepped.actors import User
from lab.stepped.scheduler import ACTORS, Actor

Start = Callable[[RacingMarketplace, Facts], Awaitable[str]]
"""Starts an action, and returns its response, such as `200` or `409 ESCROW_LOCKED`."""

Preparation = Callable[[RacingMarketplace, Facts], Awaitable[None]]

# What a command may respond to the loser of a race: the state forbids it, or the escrow is frozen or used up.
_LOST: Final = (409, 423)


async def nothing(market: RacingMarketplace, given: Facts) -> None:
    """Do nothing, for an action that needs no preparation."""


@dataclass(frozen=True, slots=True)
class Action:
    """One action of a user, the gateway or a timer. `causes`: its triggers or events in the tables of transitions.

    `prepare` runs before the race, and once when several actions of a race have the same one.
    """

    name: str
    kind: Literal["command", "webhook", "timer"]
    causes: frozenset[str]
    start: Start
    prepare: Preparation = nothing

    def allows(self, response: str) -> bool:
        """Return whether the contract allows this response in a race."""
        status = int(response.split()[0])
        return 200 <= status < 300 or (self.kind == "command" and status in _LOST)


def command(name: str, causes: str, user: User | None, sent: Command, **options: Any) -> Action:
    """Return a command of this user, or of the payout's vendor."""

    async def start(market: RacingMarketplace, given: Facts) -> str:
        sender = user or given["vendor"]
        return response_of(await market.send("POST", sent.path_of(given), sender, sent.body_of(given)))

    return Action(name, "command", frozenset(causes.split()), start, **options)


def webhook(name: str, causes: str, body_of: Callable[[Facts], bytes], **options: Any) -> Action:
    """Return a webhook of the gateway, with the body that the preparation left in the facts."""

    async def start(market: RacingMarketplace, given: Facts) -> str:
        return response_of(await market.send_webhook_now(body_of(given)))

    return Action(name, "webhook", frozenset(causes.split()), start, **options)


def timer(name: str, causes: str, process: str, loop: str, prepare: Preparation) -> Action:
    """Return a round of a worker's timer, which `prepare` makes due for one order or payout, and no other one."""

    async def start(market: RacingMarketplace, given: Facts) -> str:
        await market.timer(process, loop)
        return "200"

    return Action(name, "timer", frozenset(causes.split()), start, prepare)


@dataclass(frozen=True, slots=True)
class Situation:
    """A state of an order, payout, purchase or balance, and the actions that are possible in it.

    `settle` lets minutes pass for all races of a batch, `read` returns the end of one of them, and `check` raises
    AssertionError for an end that no order of actions has.
    """

    name: str
    subject: Literal["order", "payout", "purchase", "balance"]
    state: str
    prepare: Callable[[RacingMarketplace], Awaitable[Facts]]
    actions: Sequence[Action]
    settle: Callable[[RacingMarketplace, Sequence[Facts]], Awaitable[None]]
    read: Callable[[RacingMarketplace, Facts], Awaitable["End"]]
    check: Callable[["End"], None]
    # How many races share their preparation, the passing of time and the audit at their end.
    batch: int
    # Right before each race.
    start: Preparation = nothing


@dataclass(frozen=True, slots=True)
class End:
    """The end of a race: facts by their names, such as the status, and the balances in kobo."""

    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return ", ".join(f"{name} {fact}" for name, fact in self.facts.items() if fact not in ({}, [], None))


@dataclass(frozen=True, slots=True)
class Combination:
    """Two or three actions on one order or payout in a situation."""

    situation: Situation
    actions: tuple[Action, ...]

    @property
    def name(self) -> str:
        return f"{self.situation.name}: {'/'.join(action.name for action in self.actions)}"

    @property
    def actors(self) -> dict[Actor, Action]:
        return dict(zip(ACTORS, self.actions, strict=False))


def pairs_of(situations: Sequence[Situation]) -> list[Combination]:
    """Each action of a situation with each other one, and with itself."""
    return [
        Combination(situation, (one, other))
        for situation in situations
        for number, one in enumerate(situation.actions)
        for other in situation.actions[number:]
    ]


def response_of(response: httpx.Response) -> str:
    """Return the status, and the code of an error."""
    code = "" if response.is_success or not response.content else response.json().get("code", "")
    return f"{response.status_code} {code}".strip()
