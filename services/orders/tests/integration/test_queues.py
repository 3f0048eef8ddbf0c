"""The queues and the outbox of a service (contract section 13.7), read from the real broker."""

from typing import Any

import pytest

from common.messaging.bus import Outgoing
from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from contracts.topology import SUBSCRIPTIONS
from orders.app import SERVICE
from testkit.fixtures import DatabaseFactory, eventually
from testkit.responses import FORBIDDEN, data_of, error_of
from testkit.service_kit import opened

from .conftest import PIN_DELIVERY_KEY, PIN_KEY, Market

PATH = "/api/queues/orders"


async def queues_of(market: Market, role: str = "ops_oncall") -> Any:
    return data_of(await market.client.get(PATH, headers=market.as_staff(role)))


async def test_each_queue_of_the_service_has_its_length(market: Market) -> None:
    before = {one["name"]: one for one in (await queues_of(market))["queues"]}
    assert set(before) == {f"orders.{event.publisher()}" for event in SUBSCRIPTIONS["orders"]}
    sent = Outgoing(b"{}", str(new_id()), "test", "orders.payments", {})
    assert await market.runtime.bus.publish([sent]) == [True]

    async def longer() -> bool:
        after = {one["name"]: one for one in (await queues_of(market))["queues"]}
        return after["orders.payments"]["waiting"] == before["orders.payments"]["waiting"] + 1

    await eventually(longer)


async def test_the_outbox_has_its_length_and_age(market: Market) -> None:
    assert (await queues_of(market))["outbox"] == {"waiting": 0, "oldestAt": None}
    await market.ordered()
    await market.ordered()
    [oldest] = await market.fetch("SELECT min(created_at) AS at, count(*) AS rows FROM outbox")
    outbox = (await queues_of(market, "auditor"))["outbox"]
    assert outbox["waiting"] == oldest["rows"] > 1
    assert outbox["oldestAt"][:19] == oldest["at"].isoformat()[:19]


@pytest.mark.parametrize("role", ["support_agent", "finance_checker", "platform_admin"])
async def test_others_do_not_read_the_queues(market: Market, role: str) -> None:
    assert error_of(await market.client.get(PATH, headers=market.as_staff(role))) == FORBIDDEN


async def test_without_the_broker_the_outbox_is_shown(fresh_database: DatabaseFactory, clock: ManualClock) -> None:
    urls = await fresh_database("orders")
    keys = {"pin_key": PIN_KEY, "pin_delivery_key": PIN_DELIVERY_KEY}
    async with opened(SERVICE, urls, "amqp://guest:guest@127.0.0.1:1/", clock=clock, **keys) as app:
        market = Market(app, clock)
        await market.ordered()
        status = await queues_of(market)
    assert status["queues"] is None
    assert status["outbox"]["waiting"] > 0
