"""Money scenarios whose steps run on different versions: each version reads what the other one wrote."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final
from uuid import uuid4

from campus_tools.launcher.system import System
from lab.report import Report
from lab.systems import rows_of, value_of
from lab.trade import add_product, deliver, hand_over, pay_out, purchase
from operations.journey import Marketplace, SignedInUser
from operations.processes import ProcessPlan

_PRICE_MINOR: Final = 250_000
_PAYOUT_MINOR: Final = 100_000
_WITHIN_SECONDS: Final = 300.0
_SERVICES: Final = ("orders", "payments", "payouts")
_REFERENCE: Final = "SELECT reference FROM charges WHERE order_id = $1::text::uuid AND verdict = 'covered'"
_CHARGEBACKS: Final = "SELECT status FROM chargebacks WHERE order_id = $1::text::uuid"
_DEAD: Final = "SELECT queue, event_type, error FROM dead_letters WHERE resolved_at IS NULL"


def choices_of_version(seed: int) -> Iterator[tuple[str, Callable[[ProcessPlan], bool]]]:
    """Yield both combinations of API and worker processes, then each process by a seed, then the new version alone."""
    yield "old APIs, new workers", _is_worker
    yield "new APIs, old workers", lambda plan: not _is_worker(plan)
    yield f"each process by seed {seed}", lambda plan: Random(f"{seed} {plan.name}").random() < 0.5
    yield "the new version", lambda _: True


def _is_worker(plan: ProcessPlan) -> bool:
    return plan.module[-1] == "worker"


@dataclass
class SkewedScenarios:
    """Purchases, payouts, refunds and chargebacks. Each of them continues after the next change of versions."""

    system: System
    market: Marketplace
    buyer: SignedInUser
    vendor: SignedInUser
    maker: SignedInUser
    product_id: str
    ended: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    _running: list[tuple[str, AsyncIterator[None]]] = field(default_factory=list)

    @classmethod
    async def open(cls, system: System, market: Marketplace) -> "SkewedScenarios":
        market.wait_seconds_max = _WITHIN_SECONDS
        vendor = await market.sign_in("vendor@unilag.edu.ng")
        maker = await market.sign_in_with_two_factors("maker@campus.example", "MAKER")
        product_id = await add_product(market, vendor, _PRICE_MINOR, 100_000)
        return cls(system, market, await market.sign_in("buyer@unilag.edu.ng"), vendor, maker, product_id)

    async def advance(self, versions: str) -> None:
        """Start one scenario of each kind, and continue each running one until its next change of versions."""
        started: dict[str, AsyncIterator[None]] = {
            "payout": self._payout(),
            "refund": self._refund(),
            "lost chargeback": self._chargeback("lose", "lost"),
            "won chargeback": self._chargeback("win", "won"),
        }
        self._running += [(f"{name}, started on {versions}", steps) for name, steps in started.items()]
        await self._continue(versions)

    async def finish(self, report: Report) -> None:
        """Continue all scenarios to their ends, and record what failed."""
        while self._running:
            await self._continue("the new version")
        report.rows["scenarios that ended"] = str(len(self.ended))
        report.require_none("scenarios that failed", self.failures)
        dead = [f"{name}: {dict(row)}" for name in _SERVICES for row in await rows_of(self.system, name, _DEAD)]
        report.require_none("dead letters", dead)

    async def _continue(self, versions: str) -> None:
        await self._renew()
        running, self._running = self._running, []
        await asyncio.gather(*(self._step(versions, name, steps) for name, steps in running))

    async def _renew(self) -> None:
        """Sign in again: a change of versions may take as long as a token lives."""
        for user in (self.buyer, self.vendor):
            user.access_token = (await self.market.sign_in(user.email)).access_token
        maker = await self.market.sign_in_with_two_factors(self.maker.email, "MAKER")
        self.maker.access_token = maker.access_token

    async def _step(self, versions: str, name: str, steps: AsyncIterator[None]) -> None:
        try:
            await anext(steps)
        except StopAsyncIteration:
            self.ended.append(name)
        except Exception as error:
            self.failures.append(f"{name}, failed on {versions}: {type(error).__name__} {error}")
        else:
            self._running.append((name, steps))

    async def _payout(self) -> AsyncIterator[None]:
        order_id = await purchase(self.market, self.buyer, self.product_id)
        yield
        await deliver(self.market, self.vendor, self.buyer, order_id)
        yield
        await pay_out(self.market, self.vendor, self.maker, _PAYOUT_MINOR)

    async def _refund(self) -> AsyncIterator[None]:
        order_id = await purchase(self.market, self.buyer, self.product_id)
        yield
        body = {"reason": "Sold out."}
        await self.market.post(f"/api/orders/{order_id}/cancel", body, self.vendor, key=uuid4())
        yield
        await self.market.order_reaches(self.buyer, order_id, "refunded", within=_WITHIN_SECONDS)

    async def _chargeback(self, action: str, status: str) -> AsyncIterator[None]:
        order_id = await purchase(self.market, self.buyer, self.product_id)
        await hand_over(self.market, self.vendor, self.buyer, order_id)
        yield
        reference = await value_of(self.system, "payments", _REFERENCE, order_id)
        body = {"amount": _PRICE_MINOR // 2}
        opened = await self.market.sandbox.post(f"/control/charges/{reference}/dispute", json=body)
        dispute_id = opened.raise_for_status().json()["id"]
        await self._chargeback_reaches(order_id, "opened")
        yield
        (await self.market.sandbox.post(f"/control/disputes/{dispute_id}/{action}")).raise_for_status()
        yield
        await self._chargeback_reaches(order_id, status)

    async def _chargeback_reaches(self, order_id: str, status: str) -> None:
        """Wait until payments and payouts have recorded the state."""

        async def probe() -> Any:
            seen = [await rows_of(self.system, name, _CHARGEBACKS, order_id) for name in ("payments", "payouts")]
            return True if all(rows and rows[0]["status"] == status for rows in seen) else None

        await self.market.until(f"chargeback of {order_id} is {status}", probe, _WITHIN_SECONDS, every=0.5)
