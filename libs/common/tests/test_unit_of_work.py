import asyncio
from dataclasses import astuple
from uuid import UUID

import asyncpg
import msgspec
import pytest

from common.auth.caller import ANONYMOUS, THE_SERVICE, Caller
from common.database.errors import DatabaseUnavailable
from common.database.outbox import Writes
from common.database.unit_of_work import POOL_CONNECTIONS_MAX, Database, UnitOfWork
from common.primitives.ids import new_id
from contracts.orders import OrderCompleted

from .conftest import Mechanisms

INSERT_NOTE = "INSERT INTO notes (id, owner_id, text) VALUES ($1, $2, $3)"


async def note_of(database: Database, owner: UUID) -> UUID:
    note_id = new_id()
    async with database.unit_of_work(acting_as=Caller(user_id=owner)) as uow:
        await uow.execute(INSERT_NOTE, note_id, owner, "hello")
    return note_id


async def visible_to(database: Database, caller: Caller) -> set[UUID]:
    """Return the rows of a query without any filter."""
    async with database.unit_of_work(acting_as=caller) as uow:
        return {row["id"] for row in await uow.fetch("SELECT id FROM notes")}


async def test_row_policies_limit_a_query_without_a_filter(mechanisms: Mechanisms) -> None:
    ada, bola = new_id(), new_id()
    of_ada, of_bola = await note_of(mechanisms.database, ada), await note_of(mechanisms.database, bola)
    assert await visible_to(mechanisms.database, Caller(user_id=ada)) == {of_ada}
    assert await visible_to(mechanisms.database, Caller(user_id=bola)) == {of_bola}
    assert await visible_to(mechanisms.database, ANONYMOUS) == set()
    reader = Caller(user_id=new_id(), permissions=frozenset({"orders:read"}))
    assert await visible_to(mechanisms.database, reader) == {of_ada, of_bola}


async def test_a_caller_cannot_write_a_row_of_another_user(mechanisms: Mechanisms) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        async with mechanisms.database.unit_of_work(acting_as=Caller(user_id=new_id())) as uow:
            await uow.execute(INSERT_NOTE, new_id(), new_id(), "forged")
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        assert await uow.fetch("SELECT * FROM notes") == []


async def test_row_settings_end_with_their_transaction(mechanisms: Mechanisms) -> None:
    ada = new_id()
    await note_of(mechanisms.database, ada)
    seen = await asyncio.gather(
        *(visible_to(mechanisms.database, Caller(user_id=ada) if turn % 2 else ANONYMOUS) for turn in range(40))
    )
    assert [len(notes) for notes in seen] == [turn % 2 for turn in range(40)]


SHAPES = {
    "plain": "SELECT id FROM notes",
    "page": "SELECT id FROM notes WHERE text = $1 ORDER BY id DESC LIMIT 100",
    "union": "SELECT id FROM notes UNION SELECT id FROM notes AS again",
    "with": "WITH every AS MATERIALIZED (SELECT id FROM notes) SELECT every.id FROM every",
    "join": "SELECT a.id FROM notes AS a JOIN notes AS b ON b.id = a.id AND b.owner_id = a.owner_id",
    "subquery": (
        "SELECT id FROM (VALUES ($1)) AS v (text), LATERAL (SELECT id FROM notes WHERE notes.text = v.text) AS n"
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
async def test_row_policies_limit_a_single_statement(mechanisms: Mechanisms, shape: str) -> None:
    database, statement = mechanisms.database, SHAPES[shape]
    values = ["hello"] if "$1" in statement else []
    ada, bola = new_id(), new_id()
    of_ada, of_bola = await note_of(database, ada), await note_of(database, bola)
    reader = Caller(user_id=new_id(), permissions=frozenset({"orders:read"}))
    expected = {
        Caller(user_id=ada): {of_ada},
        ANONYMOUS: set(),
        reader: {of_ada, of_bola},
        THE_SERVICE: {of_ada, of_bola},
    }
    for _ in range(3):
        for caller, visible in expected.items():
            assert {row["id"] for row in await database.fetch_for(caller, statement, *values)} == visible


async def test_a_single_statement_keeps_the_order_of_its_rows(mechanisms: Mechanisms) -> None:
    ada = new_id()
    notes = sorted([await note_of(mechanisms.database, ada) for _ in range(5)])
    reads = mechanisms.database.reads_for(Caller(user_id=ada))
    newest = "SELECT id, text FROM notes ORDER BY id DESC LIMIT 4"
    assert [row["id"] for row in await reads.fetch(newest)] == notes[:0:-1]
    assert (await reads.fetch_row(newest))["id"] == await reads.fetch_value(newest) == notes[-1]
    assert await reads.fetch_row("SELECT id FROM notes WHERE false") is None
    assert await reads.fetch_value("SELECT id FROM notes WHERE false") is None


async def test_settings_of_a_single_statement_end_with_it(mechanisms: Mechanisms) -> None:
    database, ada = mechanisms.database, Caller(user_id=new_id(), permissions=frozenset({"orders:read"}))
    await note_of(database, ada.id)
    settings = "SELECT current_setting('app.user_id', true) || current_setting('app.permissions', true) AS caller"

    async def remaining_setting() -> str:
        """Return the settings that the next reader of the connection finds."""
        [row] = await database.fetch_public(settings)
        return row["caller"] or ""

    assert database.api.size == 1
    assert [row["caller"] for row in await database.fetch_for(ada, settings)] == [f"{ada.id}orders:read"]
    assert await remaining_setting() == ""
    with pytest.raises(asyncpg.DivisionByZeroError):
        await database.fetch_for(ada, "SELECT 1 / (count(*) - 1) FROM notes")
    assert await remaining_setting() == ""
    with pytest.raises(DatabaseUnavailable) as cancelled:
        await database.fetch_for(ada, "SELECT pg_cancel_backend(pg_backend_pid()), pg_sleep(60)")
    assert isinstance(cancelled.value.__cause__, asyncpg.QueryCanceledError)
    assert await remaining_setting() == ""
    assert database.api.size == 1


async def test_callers_that_share_connections_see_their_own_rows(mechanisms: Mechanisms) -> None:
    database = mechanisms.database
    notes = {owner: await note_of(database, owner) for owner in (new_id() for _ in range(5))}
    callers = [Caller(user_id=owner) for owner in notes] * 20
    seen = await asyncio.gather(*(database.fetch_for(caller, "SELECT id FROM notes") for caller in callers))
    assert [[row["id"] for row in rows] for rows in seen] == [[notes[caller.id]] for caller in callers]


async def test_a_failed_unit_of_work_stores_no_rows_or_events(mechanisms: Mechanisms) -> None:
    owner, handover = new_id(), mechanisms.database.handover
    with handover.to_relay():
        with pytest.raises(RuntimeError, match="the process dies here"):
            async with mechanisms.database.unit_of_work(acting_as=Caller(user_id=owner)) as uow:
                await uow.execute(INSERT_NOTE, new_id(), owner, "lost")
                uow.publish(OrderCompleted(order_id=new_id(), buyer_id=owner, vendor_id=new_id()))
                raise RuntimeError("the process dies here")
        assert handover.pop(10) == []
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        assert await uow.fetch("SELECT 1 FROM notes UNION ALL SELECT 1 FROM outbox") == []


WITHOUT_LEASE = "SELECT FROM outbox WHERE next_attempt_at < created_at + interval '5 seconds'"


async def test_a_commit_hands_its_events_to_the_relay_as_they_are_stored(mechanisms: Mechanisms) -> None:
    order, handover = new_id(), mechanisms.database.handover
    with handover.to_relay():
        async with mechanisms.database.unit_of_work(acting_as=Caller(user_id=new_id())) as uow:
            uow.publish(OrderCompleted(order_id=order, buyer_id=new_id(), vendor_id=new_id()))
            uow.publish(OrderCompleted(order_id=order, buyer_id=new_id(), vendor_id=new_id()))
            uow.enqueue_work("orders.work", order, {"number": 1})
            assert handover.pop(10) == []
        handed_over = handover.pop(10)
    stored = await mechanisms.database.fetch_for(
        THE_SERVICE,
        "SELECT id, queue, type, source, subject, payload, trace, sequence, created_at FROM outbox ORDER BY position",
    )
    assert [astuple(row) for row in handed_over] == [tuple(row) for row in stored]
    assert [row.sequence for row in handed_over] == [1, 2, 1]
    assert {row.source for row in handed_over} == {"/services/orders"}
    assert await mechanisms.database.fetch_for(THE_SERVICE, WITHOUT_LEASE) == []


NOTE = Writes(
    "added AS (INSERT INTO notes (id, owner_id, text) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING id)",
    "EXISTS (SELECT FROM added) AS is_added",
)


@pytest.mark.parametrize("is_shared", [False, True])
async def test_an_event_with_its_fact_is_stored_and_handed_over(mechanisms: Mechanisms, is_shared: bool) -> None:
    order, note, handover = new_id(), (new_id(), new_id(), "hello"), mechanisms.database.handover
    event = OrderCompleted(order_id=order, buyer_id=new_id(), vendor_id=new_id())
    with handover.to_relay():
        async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE, is_shared=is_shared) as uow:
            assert (await uow.fetch_row_and_publish(NOTE, *note, event=event))["is_added"]
            assert not (await uow.fetch_row_and_publish(NOTE, *note, event=None))["is_added"]
            uow.publish(event)
        handed_over = handover.pop(10)
    stored = await mechanisms.database.fetch_for(
        THE_SERVICE,
        "SELECT id, queue, type, source, subject, payload, trace, sequence, created_at FROM outbox ORDER BY position",
    )
    assert [astuple(row) for row in handed_over] == [tuple(row) for row in stored]
    assert [row.sequence for row in handed_over] == [1, 2]
    assert await mechanisms.database.fetch_for(THE_SERVICE, WITHOUT_LEASE) == []


@pytest.mark.parametrize("is_shared", [False, True])
async def test_an_event_is_not_published_where_its_condition_does_not_hold(
    mechanisms: Mechanisms, is_shared: bool
) -> None:
    writes, note = NOTE._replace(condition="EXISTS (SELECT FROM added)"), (new_id(), new_id(), "hello")
    events = [OrderCompleted(order_id=new_id(), buyer_id=new_id(), vendor_id=new_id()) for _ in range(2)]
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE, is_shared=is_shared) as uow:
        for event, is_added in zip(events, [True, False], strict=True):
            row = await uow.fetch_row_and_publish(writes, *note, event=event)
            assert row["is_added"] == is_added
    for table in ("outbox", "outbox_sequences"):
        rows = await mechanisms.database.fetch_for(THE_SERVICE, f"SELECT subject FROM {table}")
        assert [row["subject"] for row in rows] == [events[0].subject]


async def test_an_event_follows_an_earlier_one_of_its_subject(mechanisms: Mechanisms) -> None:
    order = new_id()
    first, second = (OrderCompleted(order_id=order, buyer_id=new_id(), vendor_id=new_id()) for _ in range(2))
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        uow.publish(first)
        await uow.fetch_row_and_publish(NOTE, new_id(), new_id(), "hello", event=second)
    rows = await mechanisms.database.fetch_for(THE_SERVICE, "SELECT payload FROM outbox ORDER BY sequence")
    assert [bytes(row["payload"]) for row in rows] == [msgspec.json.encode(event) for event in (first, second)]


async def test_without_a_relay_in_the_process_nothing_is_handed_over(mechanisms: Mechanisms) -> None:
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        uow.publish(OrderCompleted(order_id=new_id(), buyer_id=new_id(), vendor_id=new_id()))
    assert mechanisms.database.handover.pop(10) == []
    assert await mechanisms.database.fetch_for(THE_SERVICE, "SELECT 1 FROM outbox WHERE next_attempt_at <= now()")


async def test_sequences_have_no_gaps_under_concurrency(mechanisms: Mechanisms) -> None:
    order = new_id()

    async def publish() -> None:
        async with mechanisms.database.unit_of_work(acting_as=Caller(user_id=new_id())) as uow:
            uow.publish(OrderCompleted(order_id=order, buyer_id=new_id(), vendor_id=new_id()))
            uow.publish(OrderCompleted(order_id=order, buyer_id=new_id(), vendor_id=new_id()))

    await asyncio.gather(*(publish() for _ in range(10)))
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        rows = await uow.fetch("SELECT sequence FROM outbox WHERE subject = $1 ORDER BY position", str(order))
    assert [row["sequence"] for row in rows] == list(range(1, 21))


async def test_a_caller_cannot_read_the_outbox(mechanisms: Mechanisms) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        async with mechanisms.database.unit_of_work(acting_as=Caller(user_id=new_id())) as uow:
            await uow.fetch("SELECT payload FROM outbox")


async def test_transact_retries_a_deadlock(mechanisms: Mechanisms) -> None:
    owner = new_id()
    first, second = await note_of(mechanisms.database, owner), await note_of(mechanisms.database, owner)
    met = asyncio.Barrier(2)
    meetings = 0

    async def touch(one: UUID, other: UUID) -> None:
        async def work(uow):
            nonlocal meetings
            await uow.execute("UPDATE notes SET text = text || '!' WHERE id = $1", one)
            if meetings < 2:
                meetings += 1
                await met.wait()
            await uow.execute("UPDATE notes SET text = text || '!' WHERE id = $1", other)

        await mechanisms.database.transact(acting_as=THE_SERVICE, work=work)

    await asyncio.gather(touch(first, second), touch(second, first))
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        texts = {row["text"] for row in await uow.fetch("SELECT text FROM notes")}
    assert texts == {"hello!!"}


async def test_the_pool_is_usable_after_a_cancelled_statement(mechanisms: Mechanisms) -> None:
    database = mechanisms.database

    async def sleeps(started: asyncio.Event) -> None:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            started.set()
            await uow.execute("SELECT pg_sleep(60)")

    for _ in range(POOL_CONNECTIONS_MAX + 1):
        started = asyncio.Event()
        sleeping = asyncio.create_task(sleeps(started))
        await started.wait()
        sleeping.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sleeping
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            assert await uow.fetch_value("SELECT 1") == 1
    assert database.service.idle_size == database.service.size


async def test_deferred_items_are_written_together_before_the_commit(mechanisms: Mechanisms) -> None:
    written: list[list[UUID]] = []

    async def write(uow: UnitOfWork, notes: list[UUID]) -> None:
        written.append(list(notes))
        await uow.execute_many(INSERT_NOTE, [(note_id, note_id, "deferred") for note_id in notes])

    first, second = new_id(), new_id()
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        uow.defer(write, first)
        uow.defer(write, second)
        assert written == []
    assert written == [[first, second]]
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        assert {row["id"] for row in await uow.fetch("SELECT id FROM notes")} == {first, second}


@pytest.mark.parametrize("failing", ["the body", "a deferred write", "nothing"])
async def test_a_callback_learns_whether_its_transaction_was_committed(mechanisms: Mechanisms, failing: str) -> None:
    ends: list[bool] = []

    async def write(uow: UnitOfWork, _: list[str]) -> None:
        if failing == "a deferred write":
            raise LookupError

    async def run() -> None:
        async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            uow.on_end(ends.append)
            uow.defer(write, "")
            await uow.execute(INSERT_NOTE, new_id(), new_id(), "hello")
            if failing == "the body":
                raise LookupError

    if failing == "nothing":
        await run()
    else:
        with pytest.raises(LookupError):
            await run()
    assert ends == [failing == "nothing"]
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        assert len(await uow.fetch("SELECT 1 FROM notes")) == len(ends) * (failing == "nothing")


async def test_attached_writes_share_a_round_trip_and_commit_with_the_transaction(mechanisms: Mechanisms) -> None:
    database, found = mechanisms.database, list[int]()
    written = Writes(
        "note{0} AS (INSERT INTO notes (id, owner_id, text) VALUES ($1, $2, $3) RETURNING id)",
        "(SELECT count(*) FROM note{0}) AS notes{0}",
    )

    def note(number: int) -> Writes:
        return Writes(written.tables.format(number), written.result.format(number))

    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        for number in (1, 2):
            values = (new_id(), new_id(), str(number))
            uow.attach(note(number), *values, then=lambda row, number=number: found.append(row[f"notes{number}"]))
        row = await uow.fetch_row_with_attached(note(3), new_id(), new_id(), "3")
        assert (row["notes3"], found) == (1, [1, 1])
        uow.attach(note(4), new_id(), new_id(), "4", then=lambda row: found.append(row["notes4"]))
    assert found == [1, 1, 1]
    with pytest.raises(ZeroDivisionError):
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            uow.attach(note(5), new_id(), new_id(), "5", then=lambda row: found.append(0))
            raise ZeroDivisionError
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        texts = {text for (text,) in await uow.fetch("SELECT text FROM notes")}
    assert (texts, found) == ({"1", "2", "3", "4"}, [1, 1, 1])


async def test_attached_writes_share_the_statement_of_an_event_unless_they_are_withdrawn(
    mechanisms: Mechanisms,
) -> None:
    database, found, owner_id = mechanisms.database, list[str](), new_id()

    def note(name: str) -> Writes:
        return Writes(
            f"{name} AS (INSERT INTO notes (id, owner_id, text) VALUES ($1, $2, '{name}') RETURNING 1)",
            f"(SELECT count(*) FROM {name}) AS {name}",
        )

    def keep(row: asyncpg.Record) -> None:
        found.extend(name for name, _ in row.items() if name.startswith("note"))

    event = OrderCompleted(order_id=owner_id, buyer_id=new_id(), vendor_id=new_id())
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await uow.write_with_next(note("note_with_next"), new_id(), owner_id)
        uow.attach(note("note_attached"), new_id(), owner_id, then=keep)
        withdrawn = uow.attach(note("note_withdrawn"), new_id(), owner_id, then=keep)
        assert uow.withdraw(withdrawn)
        row = await uow.fetch_row_and_publish(note("note_published"), new_id(), owner_id, event=event)
        assert found == ["note_published", "note_with_next", "note_attached"]
        assert [row[name] for name in found] == [1, 1, 1]
        assert not uow.withdraw(withdrawn)
    async with database.unit_of_work(acting_as=THE_SERVICE, is_shared=True) as uow:
        await uow.write_with_next(note("note_at_once"), new_id(), owner_id)
        texts = {text for (text,) in await uow.fetch("SELECT text FROM notes WHERE owner_id = $1", owner_id)}
    assert texts == {*found, "note_at_once"}
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        assert await uow.fetch_value("SELECT count(*) FROM outbox WHERE subject = $1", str(owner_id)) == 1
