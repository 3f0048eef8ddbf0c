"""Whole orders at a fixed rate, from the checkout to the vendor's wallet, and payouts; each request has one key."""

import asyncio
import itertools
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

import httpx

from lab.trade import add_product, hand_over
from operations.journey import Marketplace, SignedInUser, StepFailed

_PRICE_MINOR: Final = 250_000
_PRODUCTS: Final = 6
_PAYOUT_EVERY_SECONDS: Final = 5.0
# Each payout has a unique amount, which identifies its transfer at the sandbox.
_FIRST_PAYOUT_MINOR: Final = 10_001
_POLL_SECONDS: Final = 0.5
# Ten times what a failover and the retry ladder's first steps take on an idle machine.
_STEP_SECONDS_MAX: Final = 600.0
# A token lives for fifteen minutes; a renewal may fail while a part is stopped.
_RENEW_EVERY_SECONDS: Final = 240.0
# The buyer cancels each paid order of this number, for a refund.
_REFUND_EVERY: Final = 4
# On a machine that is too slow for the rate, orders would pile up without end.
_ORDERS_AT_ONCE_MAX: Final = 20


@dataclass(slots=True)
class Journey:
    """One order or payout. `order_id` is empty until the checkout succeeded; `end`: the last status of the order."""

    began: float
    end: str = "paid"
    order_id: str = ""
    ended: float | None = None
    failure: str | None = None


@dataclass(slots=True)
class Journeys:
    """The load, and what each of its orders and payouts came to. Its clients repeat requests as the SDKs do."""

    market: Marketplace
    buyer: SignedInUser
    vendor: SignedInUser
    maker: SignedInUser
    products: list[str]
    orders: list[Journey] = field(default_factory=list)
    payouts: dict[int, Journey] = field(default_factory=dict)
    """The payouts by amount in kobo."""
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _renewed_at: float = field(default_factory=time.monotonic)

    @classmethod
    async def open(cls, market: Marketplace) -> "Journeys":
        """Sign in, and put products on sale."""
        market.wait_seconds_max = _STEP_SECONDS_MAX
        vendor = await market.sign_in("vendor@unilag.edu.ng")
        return cls(
            market,
            await market.sign_in("buyer@unilag.edu.ng"),
            vendor,
            await _maker(market),
            [await add_product(market, vendor, _PRICE_MINOR, 100_000) for _ in range(_PRODUCTS)],
        )

    async def run(self, orders_per_second: float) -> None:
        """Start orders and payouts until stopped, and wait for the started ones."""
        self._stopping.clear()
        products = itertools.cycle(self.products)
        renewing = asyncio.create_task(self._renew())
        async with asyncio.TaskGroup() as group:
            group.create_task(self._start_each(1 / orders_per_second, lambda: self._order(next(products)), group))
            group.create_task(self._start_each(_PAYOUT_EVERY_SECONDS, self._payout, group))
        renewing.cancel()

    async def _renew(self) -> None:
        """Sign in again before the tokens and the maker's second factor expire, after fifteen minutes."""
        while True:
            await asyncio.sleep(max(0.0, self._renewed_at + _RENEW_EVERY_SECONDS - time.monotonic()))
            self._renewed_at = time.monotonic()
            # A sign-in has no key, so it is repeated here.
            with suppress(StepFailed, httpx.TransportError):
                for user in (self.buyer, self.vendor):
                    user.access_token = (await self.market.sign_in(user.email)).access_token
                self.maker.access_token = (await _maker(self.market)).access_token

    def stop(self) -> None:
        self._stopping.set()

    def slowest(self, began: float, ended: float) -> float:
        """Return the seconds of the slowest order that was running in this time."""
        running = [order for order in self.orders if order.began < ended and (order.ended or ended) > began]
        return max(((order.ended or time.monotonic()) - order.began for order in running), default=0.0)

    async def _start_each(
        self, every: float, journey: Callable[[], Coroutine[Any, Any, None]], group: asyncio.TaskGroup
    ) -> None:
        began = time.monotonic()
        for number in itertools.count(1):
            group.create_task(journey())
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), max(0.0, began + number * every - time.monotonic()))
            if self._stopping.is_set():
                return

    async def _order(self, product_id: str) -> None:
        if sum(not (order.ended or order.failure) for order in self.orders) >= _ORDERS_AT_ONCE_MAX:
            return
        is_refunded = len(self.orders) % _REFUND_EVERY == _REFUND_EVERY - 1
        journey = Journey(time.monotonic(), "refunded" if is_refunded else "paid")
        self.orders.append(journey)
        await _recorded(journey, self._whole_order(journey, product_id))

    async def _whole_order(self, journey: Journey, product_id: str) -> None:
        market = self.market
        journey.order_id = order_id = str((await market.checkout(self.buyer, product_id))["id"])
        await market.pay(await market.pay_intent(self.buyer, order_id, key=uuid4()))
        await self._reaches(order_id, "paid_escrow")
        if journey.end == "refunded":
            await market.post(f"/api/orders/{order_id}/cancel", {"reason": "changed my mind"}, self.buyer, key=uuid4())
        else:
            await hand_over(market, self.vendor, self.buyer, order_id)
        await self._reaches(order_id, journey.end)
        await market.get(f"/api/orders/{order_id}/timeline", self.buyer)
        await market.get("/api/wallets/current/statement", self.vendor)

    async def _reaches(self, order_id: str, status: str) -> None:
        async def probe() -> bool | None:
            return True if (await self.market.order(self.buyer, order_id))["status"] == status else None

        await self.market.until(f"{order_id} reaches {status}", probe, _STEP_SECONDS_MAX, every=_POLL_SECONDS)

    async def _payout(self) -> None:
        # Nothing can be paid out before the first order has ended.
        if not any(order.ended and order.end == "paid" for order in self.orders):
            return
        amount_minor = _FIRST_PAYOUT_MINOR + len(self.payouts)
        journey = self.payouts[amount_minor] = Journey(time.monotonic())
        await _recorded(journey, self._whole_payout(amount_minor))

    async def _whole_payout(self, amount_minor: int) -> None:
        market = self.market
        payout = await market.request_payout(self.vendor, amount_minor, key=uuid4())

        async def dispatched() -> bool | None:
            """Dispatch the payout again while it waits for the signed statement of its credits."""
            batch = await market.dispatch_payouts(self.maker, [str(payout["id"])], key=uuid4())
            skipped = {line["reason"] for line in batch["skipped"]}
            if not skipped <= {"release_statement_awaited"}:
                raise TimeoutError(f"payout of {amount_minor} skipped: {skipped}")
            return None if skipped else True

        async def processed() -> bool | None:
            seen = await market.get(f"/api/payouts/{payout['id']}", self.vendor)
            return True if seen["status"] == "processed" else None

        await market.until(f"dispatch of {amount_minor}", dispatched, _STEP_SECONDS_MAX, every=_POLL_SECONDS)
        await market.until(f"payout of {amount_minor}", processed, _STEP_SECONDS_MAX, every=_POLL_SECONDS)


async def _maker(market: Marketplace) -> SignedInUser:
    return await market.sign_in_with_two_factors("maker@campus.example", "MAKER")


async def _recorded(journey: Journey, steps: Coroutine[Any, Any, None]) -> None:
    try:
        await steps
    except (StepFailed, TimeoutError, httpx.TransportError) as error:
        journey.failure = f"{time.strftime('%H:%M:%S')} {error if str(error) else type(error).__name__}"
    else:
        journey.ended = time.monotonic()
