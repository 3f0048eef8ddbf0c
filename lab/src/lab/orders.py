"""Whole orders and payouts of one vendor, as load: every step goes through the public API, results are read in the
databases.
"""

import asyncio
import itertools
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID, uuid4

from lab.trade import PRODUCTS, add_product, hand_over
from operations.journey import Marketplace, SignedInUser

_PRICE_MINOR: Final = 250_000
_PAYOUT_MINOR: Final = 100_000
_BATCH: Final = 100
_WITHIN_SECONDS: Final = 180.0
_POLL_SECONDS: Final = 0.002
"""For one waiting step, whose time is measured; several share polls that are ten times as far apart."""

_PAID: Final = "SELECT id FROM orders WHERE id = ANY($1) AND status = 'paid_escrow'"
_CREDITED: Final = "SELECT order_id FROM wallet_lines WHERE order_id = ANY($1) AND kind = 'release'"
_PROCESSED: Final = "SELECT id FROM payout_requests WHERE id = ANY($1) AND status = 'processed'"


@dataclass(slots=True)
class Watch:
    """Waits until a statement returns an id. It polls in one transaction that is rolled back, so it adds no commit."""

    connection: Any
    statement: str
    _waiting: dict[UUID, asyncio.Future[None]] = field(default_factory=dict)
    _polling: asyncio.Task[None] | None = None

    async def reaches(self, key: str) -> None:
        """Raise TimeoutError after three minutes."""
        future = self._waiting[UUID(key)] = asyncio.get_running_loop().create_future()
        if self._polling is None or self._polling.done():
            self._polling = asyncio.create_task(self._poll())
        async with asyncio.timeout(_WITHIN_SECONDS):
            await future

    async def _poll(self) -> None:
        # An id may be added during the rollback.
        while self._waiting:
            transaction = self.connection.transaction()
            await transaction.start()
            try:
                while self._waiting:
                    for (found,) in await self.connection.fetch(self.statement, list(self._waiting)):
                        if not (waiting := self._waiting.pop(found)).done():
                            waiting.set_result(None)
                    if self._waiting:
                        await asyncio.sleep(_POLL_SECONDS * min(len(self._waiting), 10))
            finally:
                await transaction.rollback()


@dataclass(slots=True)
class Trade:
    """One buyer's orders at one vendor, of several products so that checkouts do not wait for the lock of one stock.

    Only the owner works in the shop: each member would get notices of an order too.
    """

    market: Marketplace
    buyer: SignedInUser
    vendor: SignedInUser
    maker: SignedInUser
    paid: Watch
    credited: Watch
    processed: Watch
    _products: Iterator[str]
    checkout_ms: list[float] = field(default_factory=list)
    """The response times of the checkouts."""

    @classmethod
    async def open(cls, market: Marketplace, administrator: Mapping[str, Any], stock: int) -> "Trade":
        """Sign in and put `stock` pieces of each product on sale. `administrator` has connections by service."""
        vendor = await market.sign_in("vendor2@unilag.edu.ng")
        products = [await add_product(market, vendor, _PRICE_MINOR, stock) for _ in range(PRODUCTS)]
        return cls(
            market,
            await market.sign_in("buyer@unilag.edu.ng"),
            vendor,
            await market.sign_in_with_two_factors("maker@campus.example", "MAKER"),
            Watch(administrator["orders"], _PAID),
            Watch(administrator["payouts"], _CREDITED),
            Watch(administrator["payouts"], _PROCESSED),
            itertools.cycle(products),
        )

    @property
    def product(self) -> str:
        """The next product in turn."""
        return next(self._products)

    async def purchase(self) -> str:
        """Check out and pay; the id of the order once it is paid."""
        began = time.perf_counter()
        order = await self.market.checkout(self.buyer, self.product)
        self.checkout_ms.append((time.perf_counter() - began) * 1000)
        await self.market.pay(await self.market.pay_intent(self.buyer, order["id"]))
        await self.paid.reaches(order["id"])
        return str(order["id"])

    async def order(self) -> None:
        """Run a whole order, from the checkout to the vendor's wallet."""
        order_id = await self.purchase()
        await hand_over(self.market, self.vendor, self.buyer, order_id)
        await self.credited.reaches(order_id)

    async def payouts(self, count: int) -> None:
        """Payouts from the request to the bank's confirmation, dispatched in batches."""
        requested = [str((await self.market.request_payout(self.vendor, _PAYOUT_MINOR))["id"]) for _ in range(count)]
        for start in range(0, count, _BATCH):
            await self.market.dispatch_payouts(self.maker, requested[start : start + _BATCH], key=uuid4())
        await asyncio.gather(*(self.processed.reaches(payout) for payout in requested))
