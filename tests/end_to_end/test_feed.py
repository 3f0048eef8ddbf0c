"""The feed followed live through the gateway, while a worker of another process writes it (contract section 12)."""

from uuid import uuid4

import pytest

from operations.journey import Marketplace
from tests.end_to_end.conftest import Users
from tests.end_to_end.live_feed import following
from tests.end_to_end.steps import a_product


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
