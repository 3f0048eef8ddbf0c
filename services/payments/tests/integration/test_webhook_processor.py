"""New webhooks are processed where they arrive, and by the worker when that fails (decision 59)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from common.database.errors import DatabaseUnavailable
from common.database.unit_of_work import Database
from payments.streams import webhook_processor
from testkit.fixtures import WAIT_SECONDS_MAX, eventually

from .conftest import PaymentsApp

UNPUBLISHED = "SELECT id FROM outbox WHERE queue = 'payments.webhooks' AND published_at IS NULL"
LEASED = UNPUBLISHED + " AND next_attempt_at BETWEEN now() AND now() + interval '5 s'"


@asynccontextmanager
async def locked_order(app: PaymentsApp, order_id: Any) -> AsyncIterator[None]:
    """Keep the order unsettled in the meantime."""
    async with app.connected() as other, other.transaction():
        await other.execute("SELECT FROM payable_orders WHERE id = $1 FOR UPDATE", order_id)
        yield


async def drained(app: PaymentsApp) -> None:
    await app.dependencies.webhooks.drain()


async def unavailable(database: Database) -> None:
    raise DatabaseUnavailable


def handed_to_relay(app: PaymentsApp) -> list[str]:
    """Return the types of the rows that the relay of this process would publish."""
    return [row.type for row in app.database.handover.pop(100)]


async def test_a_charge_is_settled_by_the_process_that_received_it(app: PaymentsApp) -> None:
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    with app.database.handover.to_relay():
        assert (await app.send(app.charge(intent["reference"], 500_000))).status_code == 200
        await drained(app)
        assert handed_to_relay(app) == ["payments.escrow_held.v1"]
    assert await app.outcomes() == ["done"]
    assert await app.balances() == {"gateway_cash": 500_000, f"escrow:{placed.order_id}": -500_000}
    assert await app.work("payments.webhooks") == 0


async def test_the_response_follows_the_effect_whose_commit_makes_the_webhook_durable(
    app: PaymentsApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook_processor, "RESPONSE_WAIT_SECONDS", WAIT_SECONDS_MAX)
    monkeypatch.setattr(webhook_processor, "confirm_earlier", unavailable)
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    with app.database.handover.to_relay():
        assert (await app.send(app.charge(intent["reference"], 500_000))).status_code == 200
        assert await app.outcomes() == ["done"]


async def test_an_unprocessed_webhook_has_no_response_and_no_message_before_it_is_durable(
    app: PaymentsApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook_processor, "confirm_earlier", unavailable)
    with app.database.handover.to_relay():
        assert (await app.send(app.charge("ch-" + "0" * 32, 700))).status_code == 503
        assert handed_to_relay(app) == []
    assert await app.outcomes() == ["queued"]


async def test_a_webhook_that_waits_for_a_lock_has_its_response_once_it_is_durable(
    app: PaymentsApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook_processor, "confirm_earlier", unavailable)
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    with app.database.handover.to_relay():
        async with locked_order(app, placed.order_id):
            assert (await app.send(app.charge(intent["reference"], 500_000))).status_code == 503
            monkeypatch.undo()
            assert (await app.send(app.charge(intent["reference"], 500_000))).status_code == 200
            assert await app.outcomes() == ["queued", "queued"]
        await drained(app)
    assert await app.outcomes() == ["done", "done"]
    assert (await app.balances())[f"escrow:{placed.order_id}"] == -500_000


async def test_a_webhook_that_fails_is_left_to_the_worker(app: PaymentsApp) -> None:
    with app.database.handover.to_relay():
        await app.send(app.charge("ch-" + "0" * 32, 700))
        await drained(app)
        assert handed_to_relay(app) == ["payments.webhooks"]
    assert await app.outcomes() == ["queued"]
    assert await app.work("payments.webhooks", is_last_attempt=True) == 1
    assert await app.outcomes() == ["done"]


async def test_a_burst_is_left_to_the_worker(app: PaymentsApp) -> None:
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    with app.database.handover.to_relay():
        async with locked_order(app, placed.order_id):
            for _ in range(webhook_processor.CONCURRENT_MAX + 1):
                await app.send(app.charge(intent["reference"], 500_000))
            assert handed_to_relay(app) == ["payments.webhooks"]
        await drained(app)
    assert sorted(await app.outcomes()) == ["done", "done", "queued"]
    assert await app.work("payments.webhooks") == 1
    assert (await app.balances())[f"escrow:{placed.order_id}"] == -500_000


async def test_a_process_that_dies_releases_the_webhook_to_another_relay(app: PaymentsApp) -> None:
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    with app.database.handover.to_relay():
        async with locked_order(app, placed.order_id):
            earlier = asyncio.all_tasks()
            await app.send(app.charge(intent["reference"], 500_000))
            [dying] = [task for task in asyncio.all_tasks() - earlier if "WebhookProcessor" in repr(task)]
            dying.cancel()
            with pytest.raises(asyncio.CancelledError):
                await dying
        assert handed_to_relay(app) == []
    assert await app.outcomes() == ["queued"]
    assert len(await app.fetch(LEASED)) == 1
    assert await app.work("payments.webhooks") == 1
    assert (await app.balances())[f"escrow:{placed.order_id}"] == -500_000


async def test_a_lease_that_ends_too_early_settles_the_charge_once(app: PaymentsApp) -> None:
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)

    async def both_wait() -> bool:
        async with app.connected("admin") as server:
            waiting = (
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
            )
            return int(await server.fetchval(waiting)) == 2

    with app.database.handover.to_relay():
        async with locked_order(app, placed.order_id):
            await app.send(app.charge(intent["reference"], 500_000))
            worker = asyncio.create_task(app.work("payments.webhooks"))
            await eventually(both_wait)
        async with asyncio.timeout(WAIT_SECONDS_MAX):
            assert await worker == 1
        await drained(app)
    assert await app.outcomes() == ["done"]
    assert await app.balances() == {"gateway_cash": 500_000, f"escrow:{placed.order_id}": -500_000}
    assert len(await app.published("payments.escrow_held.v1")) == 1
