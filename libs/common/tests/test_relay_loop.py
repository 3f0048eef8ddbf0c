"""The pace of a relay and its end, on a clock of the test, without servers."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from common.database.errors import DatabaseUnavailable
from common.database.outbox import Handover, OutboxRow
from common.messaging import relay as relay_module
from common.messaging.relay import BATCH, IDLE_SECONDS, POLL_SECONDS, Relay
from common.primitives.ids import new_id

TOO_EARLY_SECONDS = 0.01


@dataclass
class World(Handover):
    """A database, a broker and a clock: each wait without a row lasts as long as asked for, or a little less."""

    now: float = 100.0
    waits: list[float] = field(default_factory=list)
    marked: list[list[UUID]] = field(default_factory=list)
    due_in_table: list[bool] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)
    unconfirmed: set[str] = field(default_factory=set)
    early_seconds: float = 0.0

    def __post_init__(self) -> None:
        super().__init__()
        self.lease_seconds = 1.0

    @property
    def handover(self) -> Handover:
        return self

    async def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        if not self.is_empty:
            return True
        self.now += seconds - self.early_seconds
        return False

    async def fetch_for(self, _: object, __: str, ids: Sequence[UUID]) -> list[dict[str, bool]]:
        self.marked.append(list(ids))
        return [{"is_waiting": bool(self.due_in_table) and self.due_in_table.pop(0)}]

    async def publish(self, messages: Sequence[Any]) -> list[bool]:
        return [message.message_id not in self.unconfirmed for message in messages]

    async def relay_once(self, *_: object) -> int:
        return self.batches.pop(0)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    world = World()
    loop = SimpleNamespace(time=lambda: world.now)
    monkeypatch.setattr(relay_module, "asyncio", SimpleNamespace(get_running_loop=lambda: loop))
    monkeypatch.setattr(relay_module, "relay_once", world.relay_once)
    return world


@pytest.fixture
def relay(world: World) -> Relay:
    return Relay(cast("Any", world), cast("Any", world))


def row() -> OutboxRow:
    return OutboxRow(new_id(), None, "t", "s", "1", b"{}", {}, 1, datetime(2031, 1, 1, tzinfo=UTC))


async def test_the_pause_of_an_idle_relay_doubles_up_to_its_limit(world: World, relay: Relay) -> None:
    for _ in range(5):
        await relay.run_once()
    assert world.waits == [0.0, POLL_SECONDS, 2 * POLL_SECONDS, IDLE_SECONDS, IDLE_SECONDS]
    assert world.marked == [[]] * 5


async def test_a_timer_that_fires_early_polls_too(world: World, relay: Relay) -> None:
    world.early_seconds = TOO_EARLY_SECONDS
    for _ in range(3):
        await relay.run_once()
    assert len(world.marked) == 3


async def test_confirmed_rows_are_marked_once_after_a_short_pause(world: World, relay: Relay) -> None:
    for _ in range(3):
        await relay.run_once()
    confirmed, unconfirmed = row(), row()
    world.unconfirmed.add(str(unconfirmed.id))
    world.add([confirmed, unconfirmed])
    await relay.run_once()
    assert len(world.marked) == 3
    for _ in range(2):
        await relay.run_once()
    assert world.marked[3:] == [[confirmed.id], []]
    assert world.waits[4:] == [POLL_SECONDS, POLL_SECONDS]


async def test_rows_at_the_time_of_a_poll_are_marked_by_it(world: World, relay: Relay) -> None:
    await relay.run_once()
    one = row()
    world.add([one])
    world.now = relay._poll_at
    await relay.run_once()
    assert world.marked == [[], [one.id]]


async def test_a_full_batch_is_marked_at_once(world: World, relay: Relay) -> None:
    await relay.run_once()
    for rows in ([row() for _ in range(BATCH - 1)], [row()]):
        world.add(rows)
        await relay.run_once()
    assert [len(ids) for ids in world.marked] == [0, BATCH]


async def test_due_rows_of_the_table_are_published_until_a_batch_is_not_full(world: World, relay: Relay) -> None:
    for _ in range(3):
        await relay.run_once()
    world.due_in_table, world.batches = [True], [BATCH, BATCH, 3, BATCH]
    await relay.run_once()
    assert world.batches == [BATCH]
    await relay.run_once()
    assert world.waits[-1] == POLL_SECONDS
    assert world.batches == [BATCH]


class Ended(BaseException):
    """A relay runs another round after its cancellation."""


@dataclass
class Rounds:
    """The rounds of a relay: what each raises, then one that waits. `slept`: seconds between rounds."""

    errors: list[BaseException | None]
    slept: list[float] = field(default_factory=list)
    waiting: asyncio.Event = field(default_factory=asyncio.Event)

    async def run_once(self) -> None:
        if self.waiting.is_set():
            raise Ended
        if self.errors:
            if error := self.errors.pop(0):
                raise error
            return
        self.waiting.set()
        await asyncio.Event().wait()

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


async def run_until_cancelled(
    relay: Relay, rounds: Rounds, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[str, str, bool]]:
    """Run these rounds, cancel the relay in the last one, and return its log: level, event, and with a traceback."""
    monkeypatch.setattr(relay, "run_once", rounds.run_once)
    module = SimpleNamespace(sleep=rounds.sleep, CancelledError=asyncio.CancelledError)
    monkeypatch.setattr(relay_module, "asyncio", module)
    with capture_logs() as logged:
        running = asyncio.create_task(relay.run())
        ended = asyncio.create_task(rounds.waiting.wait())
        await asyncio.wait([running, ended], return_when=asyncio.FIRST_COMPLETED)
        ended.cancel()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    return [(line["log_level"], line["event"], "exc_info" in line) for line in logged]


async def test_a_failing_relay_logs_its_bug_pauses_and_recovers(
    world: World, relay: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds = Rounds([ValueError("a bug"), None])
    log = await run_until_cancelled(relay, rounds, monkeypatch)
    assert log == [("warning", "relay failing", True), ("info", "relay recovered", False)]
    assert rounds.slept == [POLL_SECONDS]


async def test_an_unavailable_database_is_no_bug_of_the_relay(
    world: World, relay: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds = Rounds([DatabaseUnavailable(), DatabaseUnavailable(), None])
    assert await run_until_cancelled(relay, rounds, monkeypatch) == []
    assert rounds.slept == [POLL_SECONDS] * 2


async def test_a_cancellation_by_a_library_does_not_end_the_relay(
    world: World, relay: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds = Rounds([asyncio.CancelledError()])
    log = await run_until_cancelled(relay, rounds, monkeypatch)
    assert log == [("warning", "relay failing", True)]
    assert rounds.waiting.is_set()


async def test_a_relay_that_ends_marks_its_confirmed_rows(
    world: World, relay: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = new_id()
    relay._unmarked.append(published)
    await run_until_cancelled(relay, Rounds([]), monkeypatch)
    assert world.marked == [[published]]
