"""Anomalies planted in a running system are found in the history of its clients, each named by its kind."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import asyncpg
import pytest

from campus_tools.launcher.system import System
from lab.histories.checking import check_file
from lab.histories.recording import History
from lab.histories.verdict import record_final_reads
from lab.systems import clients_of, rows_of
from lab.trade import purchase
from operations.journey import Marketplace
from tests.end_to_end.steps import a_product

COPY = """
INSERT INTO orders SELECT (jsonb_populate_record(orders, jsonb_build_object(
    'id', gen_random_uuid(), 'idempotency_key', gen_random_uuid(), 'number', 'CM-0000-0000'))).*
FROM orders WHERE id = $1
"""

Plant = Callable[[asyncpg.Connection, str], AbstractAsyncContextManager[None]]


@asynccontextmanager
async def nothing(orders: asyncpg.Connection, order_id: str) -> AsyncIterator[None]:
    yield


@asynccontextmanager
async def overwritten(orders: asyncpg.Connection, order_id: str) -> AsyncIterator[None]:
    status = await orders.fetchval("SELECT status FROM orders WHERE id = $1", order_id)
    await orders.execute("UPDATE orders SET status = 'paid_escrow' WHERE id = $1", order_id)
    yield
    await orders.execute("UPDATE orders SET status = $2 WHERE id = $1", order_id, status)


@asynccontextmanager
async def doubled(orders: asyncpg.Connection, order_id: str) -> AsyncIterator[None]:
    await orders.execute(COPY, order_id)
    yield
    await orders.execute("DELETE FROM orders WHERE number = 'CM-0000-0000'")


@asynccontextmanager
async def lost(orders: asyncpg.Connection, order_id: str) -> AsyncIterator[None]:
    await orders.execute("CREATE TEMPORARY TABLE lost AS SELECT * FROM orders WHERE id = $1", order_id)
    await orders.execute("DELETE FROM orders WHERE id = $1", order_id)
    yield
    await orders.execute("INSERT INTO orders SELECT * FROM lost")


@pytest.mark.parametrize(
    ("kind", "during_reads", "at_the_end"),
    [
        ("", nothing, nothing),
        ("stale read", overwritten, nothing),
        ("lost update", nothing, overwritten),
        ("double effect", nothing, doubled),
        ("lost acknowledged write", nothing, lost),
    ],
)
async def test_an_anomaly_of_a_running_system_is_named(
    system: System, tmp_path: Path, kind: str, during_reads: Plant, at_the_end: Plant
) -> None:
    history = History(tmp_path / "history.jsonl", "client")
    url = urlsplit(system.secrets["DATABASE_URL"])._replace(path="/campus_orders").geturl()
    orders = await asyncpg.connect(url, server_settings={"session_replication_role": "replica"})
    try:
        async with clients_of(system, history) as market:
            buyer, vendor = await market.sign_in("buyer@unilag.edu.ng"), await market.sign_in("vendor@unilag.edu.ng")
            product = await a_product(market)
            order_id = await purchase(market, buyer, product["id"])
            await market.post(f"/api/orders/{order_id}/dispatch", {}, vendor, key=uuid4())
            async with during_reads(orders, order_id):
                await market.order(buyer, order_id)
            await market.order(buyer, order_id)
            async with at_the_end(orders, order_id):
                await record_final_reads(history, lambda service, statement: rows_of(system, service, statement), None)
    finally:
        await orders.close()
    assert [text.split(":")[0] for text in check_file(history.path)] == ([kind] if kind else [])
    assert all(order_id in text for text in check_file(history.path)) or kind == "double effect"


async def test_an_order_that_changes_during_the_final_reads_is_no_anomaly(
    system: System, market: Marketplace, tmp_path: Path
) -> None:
    history = History(tmp_path / "history.jsonl", "client")
    async with clients_of(system, history) as recorded:
        buyer, vendor = await recorded.sign_in("buyer@unilag.edu.ng"), await recorded.sign_in("vendor@unilag.edu.ng")
        product = await a_product(recorded)
        order_id = await purchase(recorded, buyer, product["id"])
        is_first = True

        async def rows(service: str, statement: str) -> list[asyncpg.Record]:
            nonlocal is_first
            found = await rows_of(system, service, statement)
            if is_first:
                is_first = False
                # Through a client without a history, as by the vendor at another machine.
                await market.post(f"/api/orders/{order_id}/dispatch", {}, vendor, key=uuid4())
            return found

        await record_final_reads(history, rows, None)
    assert check_file(history.path) == []
