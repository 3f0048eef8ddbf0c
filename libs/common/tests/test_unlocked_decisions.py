"""Decisions that depend on one row, read without a lock, and on its version."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final
from uuid import UUID

import asyncpg
import pytest

from common.auth.caller import THE_SERVICE
from common.database.errors import TransactionRequired
from common.database.outbox import Writes
from common.database.single_statements import decide_and_write
from common.database.unit_of_work import UnitOfWork
from common.messaging.inbox import consuming_late
from common.primitives.ids import new_id
from contracts.orders import OrderCompleted
from testkit.fixtures import eventually

from .conftest import Mechanisms
from .notebook import rows

_READ: Final = "SELECT text, xmin::text AS version FROM notes WHERE id = $1"
_LOCK: Final = f"{_READ} FOR UPDATE"
_SAVE: Final = Writes(
    "saved AS (UPDATE notes SET text = text || $2 WHERE id = $1 AND ($3::text IS NULL OR xmin = $3::text::xid) "
    "RETURNING id)",
    "EXISTS (SELECT FROM saved) AS is_saved",
    "EXISTS (SELECT FROM saved)",
    "EXISTS (SELECT FROM saved)",
)
_WAITING: Final = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
_EVENTS: Final = "SELECT sequence FROM outbox WHERE subject = $1 ORDER BY sequence"

Step = Callable[[UnitOfWork], Awaitable[object]]


class Change:
    """Appends to a note, and publishes an event about it."""

    def __init__(
        self, mechanisms: Mechanisms, note_id: UUID, before: Sequence[Step] = (), save: Writes = _SAVE
    ) -> None:
        self.mechanisms, self.note_id, self.before, self.save = mechanisms, note_id, before, save
        self.attempts = list[bool]()
        """Whether each attempt decided without a lock."""

    async def run(self, uow: UnitOfWork) -> Any:
        self.attempts.append(uow.decides_unlocked())
        note = await uow.fetch_row(_READ if uow.is_unlocked else _LOCK, self.note_id)
        if note is None:
            raise LookupError
        for step in self.before:
            await step(uow)
        version = note["version"] if uow.is_unlocked else None
        event = OrderCompleted(order_id=self.note_id, buyer_id=new_id(), vendor_id=new_id())
        return await uow.fetch_row_and_publish(self.save, self.note_id, "!", version, event=event)

    async def result(self) -> tuple[str, list[int]]:
        [note] = await rows(self.mechanisms, "SELECT text FROM notes WHERE id = $1", self.note_id)
        return note["text"], [row["sequence"] for row in await rows(self.mechanisms, _EVENTS, str(self.note_id))]


async def new_note(mechanisms: Mechanisms) -> UUID:
    note_id = new_id()
    await rows(mechanisms, "INSERT INTO notes (id, owner_id, text) VALUES ($1, $1, 'a') RETURNING id", note_id)
    return note_id


async def test_an_unchanged_row_is_changed_by_one_statement_with_its_event(mechanisms: Mechanisms) -> None:
    change = Change(mechanisms, await new_note(mechanisms))
    with mechanisms.database.handover.to_relay():
        for _ in range(2):
            assert (await decide_and_write(mechanisms.database, change.run))["is_saved"]
        assert [row.sequence for row in mechanisms.database.handover.pop(9)] == [1, 2]
    assert change.attempts == [True, True]
    assert await change.result() == ("a!!", [1, 2])


async def test_a_row_that_changes_after_the_read_is_decided_again_under_its_lock(mechanisms: Mechanisms) -> None:
    note_id = await new_note(mechanisms)

    async def change_elsewhere(uow: UnitOfWork) -> None:
        if uow.is_unlocked:
            await rows(mechanisms, "UPDATE notes SET text = 'b' WHERE id = $1 RETURNING id", note_id)

    change = Change(mechanisms, note_id, [change_elsewhere])
    assert (await decide_and_write(mechanisms.database, change.run))["is_saved"]
    assert change.attempts == [True, False]
    assert await change.result() == ("b!", [1])


async def test_a_change_waits_for_the_lock_of_another_one_and_is_decided_again(mechanisms: Mechanisms) -> None:
    note_id = await new_note(mechanisms)
    change = Change(mechanisms, note_id)
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await uow.execute("UPDATE notes SET text = 'b' WHERE id = $1", note_id)
        waiting = asyncio.create_task(decide_and_write(mechanisms.database, change.run))
        await eventually(lambda: rows(mechanisms, _WAITING))
    assert (await waiting)["is_saved"]
    assert change.attempts == [True, False]
    assert await change.result() == ("b!", [1])


async def read_more(uow: UnitOfWork) -> None:
    await uow.fetch("SELECT 1")


async def write_more(uow: UnitOfWork) -> None:
    await uow.execute("INSERT INTO notes (id, owner_id, text) VALUES ($1, $1, 'c')", new_id())


async def publish_more(uow: UnitOfWork) -> None:
    uow.publish(OrderCompleted(order_id=new_id(), buyer_id=new_id(), vendor_id=new_id()))


async def attach_more(uow: UnitOfWork) -> None:
    uow.attach(Writes("more AS (SELECT 1 AS one)", "(SELECT one FROM more) AS one"), then=lambda row: None)


async def defer_more(uow: UnitOfWork) -> None:
    async def write(uow: UnitOfWork, items: Sequence[object]) -> None:
        await write_more(uow)

    uow.defer(write, None)


@pytest.mark.parametrize("step", [read_more, write_more, publish_more, attach_more, defer_more])
async def test_more_than_one_row_is_decided_under_locks(mechanisms: Mechanisms, step: Step) -> None:
    change = Change(mechanisms, await new_note(mechanisms), [step])
    assert (await decide_and_write(mechanisms.database, change.run))["is_saved"]
    assert change.attempts == [True, False]
    assert await change.result() == ("a!", [1])


async def test_writes_that_others_may_follow_are_decided_under_locks(mechanisms: Mechanisms) -> None:
    change = Change(mechanisms, await new_note(mechanisms), save=_SAVE._replace(final=None))
    assert (await decide_and_write(mechanisms.database, change.run))["is_saved"]
    assert change.attempts == [True, False]
    assert await change.result() == ("a!", [1])


async def test_an_error_and_a_decision_without_a_write_are_repeated_under_locks(mechanisms: Mechanisms) -> None:
    missing = Change(mechanisms, new_id())
    with pytest.raises(LookupError):
        await decide_and_write(mechanisms.database, missing.run)
    assert missing.attempts == [True, False]
    decisions = list[bool]()

    async def return_at_once(uow: UnitOfWork) -> None:
        decisions.append(uow.decides_unlocked(is_read=True))

    await decide_and_write(mechanisms.database, return_at_once)
    assert decisions == [True, False]


async def test_a_row_that_was_read_before_permits_no_further_read(mechanisms: Mechanisms) -> None:
    attempts = list[bool]()

    async def read(uow: UnitOfWork) -> None:
        attempts.append(uow.decides_unlocked(is_read=True))
        await read_more(uow)

    await decide_and_write(mechanisms.database, read)
    assert attempts == [True, False]


async def test_a_statement_after_the_whole_transaction_is_an_error(mechanisms: Mechanisms) -> None:
    change = Change(mechanisms, await new_note(mechanisms))

    async def run(uow: UnitOfWork) -> None:
        await change.run(uow)
        await write_more(uow)

    with pytest.raises(AssertionError):
        await decide_and_write(mechanisms.database, run)


async def test_a_transaction_from_its_first_statement_on_decides_under_locks(mechanisms: Mechanisms) -> None:
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        assert not uow.decides_unlocked()
        assert not uow.is_unlocked


async def test_without_a_second_attempt_nothing_is_written(mechanisms: Mechanisms) -> None:
    change = Change(mechanisms, await new_note(mechanisms), [write_more])

    async def once(uow: UnitOfWork) -> Any:
        if change.attempts:
            raise TransactionRequired
        return await change.run(uow)

    with pytest.raises(TransactionRequired):
        await decide_and_write(mechanisms.database, once)
    assert await change.result() == ("a", [])


async def test_a_started_transaction_decides_under_locks(mechanisms: Mechanisms) -> None:
    async def run(uow: UnitOfWork) -> bool:
        await write_more(uow)
        return uow.decides_unlocked()

    assert not await decide_and_write(mechanisms.database, run)
    assert len(await rows(mechanisms, "SELECT FROM notes")) == 1


async def test_a_started_transaction_writes_and_publishes_in_one_round_trip(mechanisms: Mechanisms) -> None:
    change = Change(mechanisms, await new_note(mechanisms))

    async def run(uow: UnitOfWork) -> Any:
        await write_more(uow)
        return await change.run(uow)

    assert (await decide_and_write(mechanisms.database, run))["is_saved"]
    assert change.attempts == [False]
    assert await change.result() == ("a!", [1])


async def test_a_second_decision_needs_locks(mechanisms: Mechanisms) -> None:
    async def run(uow: UnitOfWork) -> list[bool]:
        decisions.append([uow.decides_unlocked(), uow.decides_unlocked()])
        return decisions[-1]

    decisions = list[list[bool]]()
    await decide_and_write(mechanisms.database, run)
    assert decisions == [[True, False], [False, False]]


@pytest.mark.parametrize(("is_shared", "is_single"), [(False, False), (True, True)])
async def test_messages_of_several_handlers_decide_under_locks(
    mechanisms: Mechanisms, is_shared: bool, is_single: bool
) -> None:
    keys = [(new_id(), "on_order_completed")]
    async with consuming_late(mechanisms.database, keys, is_shared=is_shared, is_single=is_single) as uow:
        assert not uow.decides_unlocked()


async def test_an_error_of_the_only_statement_is_not_repeated(mechanisms: Mechanisms) -> None:
    failing = _SAVE._replace(result="(SELECT 1 FROM saved WHERE id = 'x'::uuid) AS is_saved")
    change = Change(mechanisms, await new_note(mechanisms), save=failing)
    with pytest.raises(asyncpg.InvalidTextRepresentationError):
        await decide_and_write(mechanisms.database, change.run)
    assert change.attempts == [True]
    assert await change.result() == ("a", [])
