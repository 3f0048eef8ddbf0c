import asyncio
from uuid import UUID

import asyncpg
import pytest

from common.auth.caller import ANONYMOUS, THE_SERVICE, Caller
from common.database.unit_of_work import POOL_CONNECTIONS_MAX, Database, DatabaseUnavailable, UnitOfWork
from common.primitives.ids import new_id
from contracts.orders import OrderCompleted

INSERT_NOTE = "INSERT INTO notes (id, owner_id, text) VALUES ($1, $2, $3)"


async def note_of(database: Database, owner: UUID) -> UUID:
    note_id = new_id()
    async with database.unit_of_work(acting_as=Caller(user_id=owner)) as uow:
        await uow.execute(INSERT_NOTE, note_id, owner, "hello")
    return note_id


async def visible_to(database: Database, caller: Caller) -> set[UUID]:
    """What a query shows that has forgotten every filter."""
    async with database.unit_of_work(acting_as=caller) as uow:
        return {row["id"] for row in await uow.fetch("SELECT id FROM notes")}


async def test_a_caller_sees_own_rows_only_even_when_the_query_forgets_its_filter(mechanisms):
    ada, bola = new_id(), new_id()
    of_ada, of_bola = await note_of(mechanisms.database, ada), await note_of(mechanisms.database, bola)
    assert await visible_to(mechanisms.database, Caller(user_id=ada)) == {of_ada}
    assert await visible_to(mechanisms.database, Caller(user_id=bola)) == {of_bola}
    assert await visible_to(mechanisms.database, ANONYMOUS) == set()
    reader = Caller(user_id=new_id(), permissions=frozenset({"orders:read"}))
    assert await visible_to(mechanisms.database, reader) == {of_ada, of_bola}


async def test_a_caller_cannot_write_a_row_in_the_name_of_another(mechanisms):
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        async with mechanisms.database.unit_of_work(acting_as=Caller(user_id=new_id())) as uow:
            await uow.execute(INSERT_NOTE, new_id(), new_id(), "forged")
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        assert await uow.fetch("SELECT * FROM notes") == []


async def test_the_settings_of_one_caller_never_reach_the_next_on_the_same_connection(mechanisms):
    ada = new_id()
    await note_of(mechanisms.database, ada)
    seen = await asyncio.gather(
        *(visible_to(mechanisms.database, Caller(user_id=ada) if turn % 2 else ANONYMOUS) for turn in range(40))
    )
    assert [len(notes) for notes in seen] == [turn % 2 for turn in range(40)]


async def test_what_fails_leaves_neither_rows_nor_events(mechanisms):
    owner = new_id()
    with pytest.raises(RuntimeError, match="the process dies here"):
        async with mechanisms.database.unit_of_work(acting_as=Caller(user_id=owner)) as uow:
            await uow.execute(INSERT_NOTE, new_id(), owner, "lost")
            uow.publish(OrderCompleted(order_id=new_id(), buyer_id=owner, vendor_id=new_id()))
            raise RuntimeError("the process dies here")
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        assert await uow.fetch("SELECT 1 FROM notes UNION ALL SELECT 1 FROM outbox") == []
    assert not mechanisms.database.outbox_wakeup.is_set()


async def test_sequences_grow_by_one_for_each_subject_even_when_said_at_once(mechanisms):
    order = new_id()

    async def publish() -> None:
        async with mechanisms.database.unit_of_work(acting_as=Caller(user_id=new_id())) as uow:
            uow.publish(OrderCompleted(order_id=order, buyer_id=new_id(), vendor_id=new_id()))
            uow.publish(OrderCompleted(order_id=order, buyer_id=new_id(), vendor_id=new_id()))

    await asyncio.gather(*(publish() for _ in range(10)))
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        rows = await uow.fetch("SELECT sequence FROM outbox WHERE subject = $1 ORDER BY position", str(order))
    assert [row["sequence"] for row in rows] == list(range(1, 21))


async def test_a_caller_can_say_events_but_not_read_what_others_said(mechanisms):
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        async with mechanisms.database.unit_of_work(acting_as=Caller(user_id=new_id())) as uow:
            await uow.fetch("SELECT payload FROM outbox")


async def test_transact_tries_a_deadlock_again_and_both_sides_commit(mechanisms):
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


async def test_whoever_is_cancelled_in_a_statement_gives_the_connection_back_fit_for_the_next(mechanisms):
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


async def test_who_waits_for_a_connection_gets_the_first_that_is_free(mechanisms):
    pool = mechanisms.database.service
    lent = [await pool.acquire() for _ in range(POOL_CONNECTIONS_MAX)]
    waiting = asyncio.create_task(mechanisms.database.transact(acting_as=THE_SERVICE, work=_one))
    with pytest.raises(TimeoutError):
        await pool.acquire(timeout=0.01)
    for connection in lent:
        await pool.release(connection)
    assert await waiting == 1


async def _one(uow: UnitOfWork) -> int:
    return await uow.fetch_value("SELECT 1")


async def test_a_database_that_is_away_says_so():
    nowhere = "postgresql://nobody:nothing@127.0.0.1:1/none"
    with pytest.raises((DatabaseUnavailable, OSError)):
        await open_database(nowhere)


async def open_database(url: str) -> None:
    async with (
        Database.connect(api_url=url, service_url=url, name="test") as database,
        database.unit_of_work(acting_as=THE_SERVICE),
    ):
        raise AssertionError("nobody listens there")
