"""Messages whose transaction starts with its first write."""

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Any, Final
from uuid import UUID

import asyncpg
import msgspec
import pytest

from common.database import late_transactions
from common.database.commits import CONFIRM_AND_COMMIT
from common.database.late_transactions import LateConnection
from common.database.outbox import Attached, Writes
from common.database.unit_of_work import Database
from common.messaging.bus import Bus
from common.messaging.consumers import Consumers
from common.messaging.messages import Handlers, Received, Subscription
from common.primitives.ids import new_id
from contracts.orders import OrderDispatched

from .conftest import Mechanisms
from .notebook import OF_OWNER, Notebook, duplicates, rows

_NOTE: Final = Writes(
    "noted AS (INSERT INTO notes (id, owner_id, text) VALUES ($1, $2, 'received') ON CONFLICT DO NOTHING RETURNING 1)",
    "EXISTS (SELECT FROM noted) AS is_new",
    final="true",
)
_INSERT: Final = "INSERT INTO notes (id, owner_id, text) VALUES ($1, $2, 'received') RETURNING id"
_FIRST_OF_OWNER: Final = _NOTE._replace(final="NOT EXISTS (SELECT FROM notes WHERE owner_id = $2)")


class StartsLate(Notebook):
    """A consumer whose transaction starts with its first write."""

    steps: Sequence[str] = ("write",)
    note = _NOTE

    async def on_order_dispatched(self, event, received, uow, dependencies):
        self.attempts[event.subject] += 1
        for step in self.steps:
            if step == "read":
                assert await uow.fetch_value("SELECT count(*) FROM notes WHERE owner_id = $1", event.order_id) == 0
            elif step == "lock":
                await uow.fetch("SELECT FROM notes WHERE owner_id = $1 FOR UPDATE", event.order_id)
                assert uow.is_started
            elif step == "attach":
                uow.attach(self.note, new_id(), event.order_id, then=lambda row: None)
            elif step == "publish":
                uow.publish(event)
            elif step == "execute_many":
                await uow.execute_many(_INSERT, [(new_id(), event.order_id)])
            elif step in ("fetch", "fetch_row", "fetch_value", "execute"):
                assert await getattr(uow, step)(_INSERT, new_id(), event.order_id)
                assert uow.is_started
            else:
                row = await uow.write(self.note, new_id(), event.order_id)
                assert row["is_new"]


def deliver(mechanisms: Mechanisms, bus: Bus, notebook: Notebook, *messages: Received) -> Awaitable[None]:
    subscriptions = [Subscription(OrderDispatched, notebook.on_order_dispatched, starts_late=True)]
    consumers = Consumers("tests", mechanisms.database, bus, None, Handlers(subscriptions), account_required=False)
    return consumers.handle("tests.orders", [(one, _data_of(one.subject)) for one in messages])


def _data_of(order_id: str) -> msgspec.Raw:
    event = OrderDispatched(order_id=UUID(order_id), buyer_id=new_id(), vendor_id=new_id())
    return msgspec.Raw(msgspec.json.encode(event))


def received(order_id: UUID) -> Received:
    return Received(new_id(), OrderDispatched.TYPE, "/services/orders", str(order_id), 1, "", 1, False)


@pytest.fixture
def transactions(mechanisms: Mechanisms, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return how each transaction of messages was committed."""
    found = list[str]()
    alone, together = LateConnection.commit_alone, Database._commit

    async def commit_alone(self: LateConnection, parts: Sequence[Attached], *event: Any) -> asyncpg.Record:
        row = await alone(self, parts, *event)
        found.append("alone")
        return row

    async def commit(self: Database, connection: asyncpg.Connection, statement: str) -> asyncio.CancelledError | None:
        found.append("transaction")
        return await together(self, connection, statement)

    monkeypatch.setattr(LateConnection, "commit_alone", commit_alone)
    monkeypatch.setattr(Database, "_commit", commit)
    return found


@pytest.mark.parametrize("steps", [("write",), ("read", "write"), ("read", "attach")])
async def test_reads_and_one_write_commit_as_one_statement(
    mechanisms: Mechanisms, bus: Bus, transactions: list[str], steps: Sequence[str]
) -> None:
    notebook, order_id = StartsLate(), new_id()
    notebook.steps = steps
    message = received(order_id)
    await deliver(mechanisms, bus, notebook, message)
    assert transactions == ["alone"]
    assert len(await rows(mechanisms, OF_OWNER, order_id)) == 1
    assert await consumers_of(mechanisms, message) == ["on_order_dispatched"]


@pytest.mark.parametrize(
    "steps",
    [
        ("lock", "write"),
        ("attach", "publish"),
        ("publish", "fetch"),
        ("fetch",),
        ("fetch_row",),
        ("fetch_value",),
        ("execute",),
        ("execute_many",),
    ],
)
async def test_a_lock_or_an_event_starts_the_transaction(
    mechanisms: Mechanisms, bus: Bus, transactions: list[str], steps: Sequence[str]
) -> None:
    notebook, order_id = StartsLate(), new_id()
    notebook.steps = steps
    message = received(order_id)
    await deliver(mechanisms, bus, notebook, message)
    assert transactions == ["transaction"]
    assert len(await rows(mechanisms, OF_OWNER, order_id)) == 1
    assert await consumers_of(mechanisms, message) == ["on_order_dispatched"]


async def test_an_event_alone_starts_the_transaction(mechanisms: Mechanisms, bus: Bus, transactions: list[str]) -> None:
    notebook, order_id = StartsLate(), new_id()
    notebook.steps = ("publish",)
    message = received(order_id)
    for _ in range(2):
        await deliver(mechanisms, bus, notebook, message)
    assert transactions == ["transaction"] * 2
    assert len(await rows(mechanisms, "SELECT FROM outbox WHERE subject = $1", str(order_id))) == 1
    assert await consumers_of(mechanisms, message) == ["on_order_dispatched"]


async def test_a_repetition_of_such_a_message_has_no_effect(
    mechanisms: Mechanisms, bus: Bus, transactions: list[str]
) -> None:
    notebook, order_id = StartsLate(), new_id()
    message, repeated = received(order_id), duplicates()
    for steps in (("write",), ("write",), ("lock", "write"), ("attach",), ()):
        notebook.steps = steps
        await deliver(mechanisms, bus, notebook, message)
    assert transactions == ["alone", *["transaction"] * 4]
    assert len(await rows(mechanisms, OF_OWNER, order_id)) == 1
    assert duplicates() == repeated + 4


async def test_a_repetition_is_confirmed_when_the_first_commit_is_on_a_second_machine(
    mechanisms: Mechanisms, bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements, run = list[str](), Database._commit

    async def commit(self: Database, connection: asyncpg.Connection, statement: str) -> asyncio.CancelledError | None:
        statements.append(statement)
        return await run(self, connection, statement)

    monkeypatch.setattr(Database, "_commit", commit)
    notebook, message = StartsLate(), received(new_id())
    for steps in (("lock", "write"), ("lock", "write"), ("write",)):
        notebook.steps = steps
        await deliver(mechanisms, bus, notebook, message)
    assert statements == ["COMMIT", CONFIRM_AND_COMMIT, CONFIRM_AND_COMMIT]


async def test_concurrent_deliveries_of_such_a_message_have_one_effect(mechanisms: Mechanisms, bus: Bus) -> None:
    notebook, order_id = StartsLate(), new_id()
    message = received(order_id)
    await asyncio.gather(*(deliver(mechanisms, bus, notebook, message) for _ in range(5)))
    assert len(await rows(mechanisms, OF_OWNER, order_id)) == 1


async def test_such_messages_share_one_statement(mechanisms: Mechanisms, bus: Bus, transactions: list[str]) -> None:
    notebook, order_ids = StartsLate(), [new_id(), new_id()]
    notebook.steps = ()
    messages = [received(order_id) for order_id in order_ids]
    await deliver(mechanisms, bus, notebook, *messages)
    assert transactions == ["alone"]
    transactions.clear()
    assert [await consumers_of(mechanisms, one) for one in messages] == [["on_order_dispatched"]] * 2
    notebook.steps = ("write",)
    transactions.clear()
    await deliver(mechanisms, bus, notebook, *map(received, order_ids))
    assert transactions == ["transaction"]
    assert [len(await rows(mechanisms, OF_OWNER, order_id)) for order_id in order_ids] == [1, 1]


async def test_writes_that_others_must_follow_are_repeated_in_a_transaction(
    mechanisms: Mechanisms, bus: Bus, transactions: list[str]
) -> None:
    notebook, order_id = StartsLate(), new_id()
    notebook.note = _FIRST_OF_OWNER
    for _ in range(2):
        await deliver(mechanisms, bus, notebook, received(order_id))
    assert transactions == ["alone", "transaction"]
    assert len(await rows(mechanisms, OF_OWNER, order_id)) == 2


async def test_a_second_write_of_one_statement_fails(mechanisms: Mechanisms, bus: Bus) -> None:
    notebook = StartsLate()
    notebook.steps = ("write", "write")
    with pytest.raises(AssertionError):
        await deliver(mechanisms, bus, notebook, received(new_id()))


async def test_an_error_of_the_only_write_rolls_its_inbox_row_back(mechanisms: Mechanisms, bus: Bus) -> None:
    notebook, message = StartsLate(), received(new_id())
    notebook.note = Writes(
        "missing AS (INSERT INTO notes (id) SELECT $1 WHERE $2::uuid IS NOT NULL RETURNING 1)",
        "EXISTS (SELECT FROM missing) AS is_new",
        final="true",
    )
    with pytest.raises(asyncpg.NotNullViolationError):
        await deliver(mechanisms, bus, notebook, message)
    assert await consumers_of(mechanisms, message) == []


async def consumers_of(mechanisms: Mechanisms, message: Received) -> list[str]:
    found = await rows(mechanisms, "SELECT consumer FROM inbox WHERE event_id = $1", message.event_id)
    return [row["consumer"] for row in found]


@pytest.mark.parametrize(
    ("statement", "is_read"),
    [
        ("SELECT 1", True),
        ("\n  select id FROM notes", True),
        ("SELECT id FROM notes FOR UPDATE", False),
        ("SELECT id FROM notes\nFOR NO KEY UPDATE SKIP LOCKED", False),
        ("SELECT pg_advisory_xact_lock(1)", False),
        ("SELECT set_config('a', 'b', true)", False),
        ("WITH locked AS (SELECT 1) SELECT 1", False),
        ("INSERT INTO notes VALUES (1)", False),
    ],
)
def test_only_a_plain_select_starts_no_transaction(statement: str, is_read: bool) -> None:
    assert late_transactions._is_read(statement) == is_read
