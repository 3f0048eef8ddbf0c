"""The feed followed live through the gateway, while a worker of another process writes it (contract section 12)."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest

from operations.journey import Marketplace, SignedInUser
from tests.end_to_end.conftest import Users
from tests.end_to_end.steps import a_product

# A log-out is effective everywhere within this time (contract section 5).
EVERYWHERE_SECONDS_MAX = 60


@asynccontextmanager
async def following(market: Marketplace, user: SignedInUser, last: str | None = None) -> AsyncIterator[Any]:
    """`await next_entry()` gives the next notification of the stream; StopAsyncIteration at its end."""
    headers = {**user.headers, **({"Last-Event-ID": last} if last else {})}
    async with market.http.stream("GET", "/api/notifications/stream", headers=headers) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        lines = response.aiter_lines()

        async def next_entry() -> Any:
            async with asyncio.timeout(EVERYWHERE_SECONDS_MAX):
                while True:
                    line = await anext(lines)
                    if line.startswith("data: "):
                        return json.loads(line.removeprefix("data: "))

        # The first line confirms that the stream has started: later notifications arrive on it.
        assert (await anext(lines)).startswith("retry:")
        yield next_entry


async def test_a_purchase_is_streamed_resumes_and_ends_with_a_log_out(market: Marketplace, users: Users) -> None:
    buyer = await market.sign_up(f"live.{uuid4().hex}@unilag.edu.ng", "Live Buyer", f"+234803{uuid4().int % 10**7:07d}")
    async with following(market, buyer) as next_entry:
        order = await market.checkout(buyer, (await a_product(market))["id"])
        await market.pay(await market.pay_intent(buyer, order["id"]))
        entries = [await next_entry() for _ in range(2)]
        # The number of a new student is not proven: the PIN is announced, not texted.
        assert {one["template"] for one in entries} == {"order_confirmation", "delivery_pin_ready"}
    await market.dispatch(users.vendor, order["id"])
    async with following(market, buyer, entries[0]["id"]) as next_entry:
        assert await next_entry() == entries[1]
        dispatched = await next_entry()
        assert dispatched["template"] == "order_dispatched"
        assert (await market.get("/api/notifications", buyer))[0] == dispatched
        assert await market.get("/api/notifications/unread-count", buyer) == {"unreadCount": 3}
        assert await market.post("/api/notifications/read-all", {}, buyer) == {"read": 3}
        await market.post("/api/auth/logout", {}, buyer)
        with pytest.raises(StopAsyncIteration):
            await next_entry()
