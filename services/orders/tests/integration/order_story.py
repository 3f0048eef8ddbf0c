"""The story of one order: a function for each trigger of its lifecycle."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from contracts.payments import ChargeDisputed, RefundFailed, RefundSettled
from orders.timers import fire_timers_once

from .conftest import Market

COMPLAINT = {"reason": "never came", "details": "I waited."}


@dataclass
class Story:
    """One order, and everything that may happen to it."""

    market: Any
    order: dict[str, Any] = field(default_factory=dict)
    pin: str = "000000"

    @property
    def id(self) -> UUID:
        return UUID(self.order["id"])

    async def create_sale(self) -> None:
        self.order = await self.market.ordered(await self.market.sell(stock=5), 2)

    async def pay(self) -> None:
        await self.market.pay(self.order)
        if await self.market.status_of(self.order) == "paid_escrow":
            self.pin = await self.market.pin_of(self.order)

    async def pay_without_stock(self) -> None:
        await self.market.fetch(
            "UPDATE products SET stock = 0 WHERE id = $1::uuid", self.order["items"][0]["productId"]
        )
        await self.pay()

    async def release(self) -> None:
        await self.market.release(self.order)

    async def time_out(self) -> None:
        now = self.market.clock.now()
        await self.market.fetch("UPDATE order_timers SET due_at = $2 WHERE order_id = $1", self.id, now)
        await fire_timers_once(self.market.dependencies)

    async def cancel(self, headers: dict[str, str]) -> Any:
        return await self.market.post(self.order, "cancel", headers, {"reason": "no"})

    async def buyer_cancels(self) -> Any:
        return await self.cancel(self.market.as_buyer())

    async def vendor_cancels(self) -> Any:
        return await self.cancel(self.market.as_merchant())

    async def staff_cancels(self) -> Any:
        return await self.cancel(self.market.as_staff("support_agent"))

    async def dispatch(self) -> Any:
        return await self.market.post(self.order, "dispatch", self.market.as_merchant())

    async def verify(self) -> Any:
        return await self.market.verify(self.order, self.pin, headers=self.market.as_merchant())

    async def dispute(self) -> Any:
        return await self.market.post(self.order, "dispute", self.market.as_buyer(), COMPLAINT)

    async def prepare(self, outcome: str) -> Any:
        body = {"outcome": outcome} | ({"refundMinor": 1} if outcome == "split" else {})
        return await self.market.post(self.order, "resolve", self.market.as_staff("support_agent"), body)

    async def approve_resolution(self, resolution_id: Any) -> Any:
        return await self.market.approve_resolution(resolution_id)

    async def resolve(self, outcome: str) -> Any:
        return await self.approve_resolution((await self.prepare(outcome)).json()["data"]["resolutionId"])

    async def request_return(self, quantity: int) -> Any:
        body = {"items": [{"itemId": self.order["items"][0]["id"], "quantity": quantity}], "reason": "torn"}
        return await self.market.post(self.order, "return-requests", self.market.as_buyer(), body)

    async def approve_return(self, request_id: Any) -> Any:
        return await self.market.client.post(
            f"/api/return-requests/{request_id}/approve", headers=self.market.as_merchant()
        )

    async def return_items(self, quantity: int) -> Any:
        return await self.approve_return((await self.request_return(quantity)).json()["data"]["id"])

    async def open_chargeback(self) -> None:
        await self.market.receive(ChargeDisputed(**self.parties, amount_minor=1))

    async def end_refund(self, event: type[RefundSettled] | type[RefundFailed]) -> None:
        if await self.market.status_of(self.order) in ("delivered", "paid"):
            await self.return_items(1)
        [refund] = await self.market.fetch("SELECT id, amount_minor FROM order_refunds WHERE order_id = $1", self.id)
        await self.market.receive(
            event(refund_id=refund["id"], kind="order", amount_minor=refund["amount_minor"], order_id=self.id)
        )

    @property
    def parties(self) -> dict[str, UUID]:
        ids = {"order_id": "id", "buyer_id": "buyerId", "vendor_id": "vendorId"}
        return {name: UUID(self.order[field]) for name, field in ids.items()}


TRIGGERS: dict[str, Callable[[Story], Awaitable[Any]]] = {
    "buyer_cancels": Story.buyer_cancels,
    "vendor_cancels": Story.vendor_cancels,
    "staff_cancels": Story.staff_cancels,
    "vendor_dispatches": Story.dispatch,
    "pin_accepted": Story.verify,
    "buyer_disputes": Story.dispute,
    "resolved_for_buyer": lambda story: story.resolve("buyer"),
    "resolved_for_vendor": lambda story: story.resolve("split"),
    "return_approved": lambda story: story.return_items(1),
    "everything_returned": lambda story: story.return_items(2),
    "payment_window_ended": Story.time_out,
    "vendor_idle": Story.time_out,
    "pin_window_ended": Story.time_out,
    "escrow_held": Story.pay,
    "escrow_held_without_stock": Story.pay_without_stock,
    "escrow_fully_released": Story.release,
    "chargeback_opened": Story.open_chargeback,
    "refund_settled": lambda story: story.end_refund(RefundSettled),
    "refund_failed": lambda story: story.end_refund(RefundFailed),
}
# The transitions that bring an order into each state.
PATHS: dict[str, tuple[str, ...]] = {
    "Processing": (),
    "expired": ("payment_window_ended",),
    "cancelled": ("buyer_cancels",),
    "paid_escrow": ("escrow_held",),
    "dispatched": ("escrow_held", "vendor_dispatches"),
    "delivered": ("escrow_held", "vendor_dispatches", "pin_accepted"),
    "paid": ("escrow_held", "vendor_dispatches", "pin_accepted", "escrow_fully_released"),
    "disputed": ("escrow_held", "vendor_dispatches", "buyer_disputes"),
    "refund_pending": ("escrow_held", "vendor_cancels"),
    "refunded": ("escrow_held", "vendor_cancels", "refund_settled"),
}


async def reached(market: Market, state) -> Story:
    story = Story(market)
    await story.create_sale()
    for trigger in PATHS[state]:
        await TRIGGERS[trigger](story)
    assert await market.status_of(story.order) == state
    return story
