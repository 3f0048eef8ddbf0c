"""Money scenarios whose steps run on different versions: each version reads what the other one wrote.

A seed gives each process one of the versions, starts scenarios, and chooses which of the running ones continue
(decision 223).
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any, Final, NamedTuple
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
# Of the scenarios that run, this share continues after a change of versions: the others wait for a later one.
_CONTINUED_SHARE: Final = 0.7
_STARTED_BY_A_SEED: Final = 3
_STAFF: Final = ("maker", "checker", "support")
_SERVICES: Final = ("orders", "payments", "payouts")
_REFERENCE: Final = "SELECT reference FROM charges WHERE order_id = $1::text::uuid AND verdict = 'covered'"
_CHARGEBACKS: Final = "SELECT status FROM chargebacks WHERE order_id = $1::text::uuid"
_DEAD: Final = "SELECT queue, event_type, error FROM dead_letters WHERE resolved_at IS NULL"


class Versions(NamedTuple):
    """A combination of versions: its name, and whether a process has the new one. `seed`: what drew it."""

    name: str
    is_new: Callable[[ProcessPlan], bool]
    seed: int | None = None


def choices_of_version(seeds: Iterable[int]) -> Iterator[Versions]:
    """Yield both combinations of API and worker, then each process by each seed, then the new version alone."""
    yield Versions("old APIs, new workers", _is_worker)
    yield Versions("new APIs, old workers", lambda plan: not _is_worker(plan))
    for seed in seeds:
        yield Versions(f"seed {seed}", partial(_is_new, seed), seed)
    yield Versions("the new version", lambda _: True)


def _is_new(seed: int, plan: ProcessPlan) -> bool:
    return Random(f"{seed} {plan.name}").random() < 0.5


def _is_worker(plan: ProcessPlan) -> bool:
    return plan.module[-1] == "worker"


@dataclass
class SkewedScenarios:
    """Purchases and what follows them. Each scenario continues after a later change of versions."""

    system: System
    market: Marketplace
    buyer: SignedInUser
    vendor: SignedInUser
    staff: dict[str, SignedInUser]
    product_id: str
    ended: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    _running: list[tuple[str, AsyncIterator[None]]] = field(default_factory=list)

    @classmethod
    async def open(cls, system: System, market: Marketplace) -> "SkewedScenarios":
        market.wait_seconds_max = _WITHIN_SECONDS
        vendor = await market.sign_in("vendor@unilag.edu.ng")
        product_id = await add_product(market, vendor, _PRICE_MINOR, 100_000)
        scenarios = cls(system, market, await market.sign_in("buyer@unilag.edu.ng"), vendor, {}, product_id)
        await scenarios._renew()
        return scenarios

    async def advance(self, versions: Versions) -> None:
        """Start scenarios, one of each kind or some by the seed, and continue running ones until their next change."""
        started = self._scenarios
        names, continued = list(started), self._running
        if versions.seed is not None:
            random = Random(versions.seed)
            names = random.sample(names, _STARTED_BY_A_SEED)
            continued = [one for one in self._running if random.random() < _CONTINUED_SHARE]
        new = [(f"{name}, started on {versions.name}", started[name]()) for name in names]
        waiting = [one for one in self._running if one not in continued]
        await self._continue(versions.name, [*continued, *new])
        self._running += waiting

    async def finish(self, report: Report) -> None:
        """Continue all scenarios to their ends, and record what failed."""
        while self._running:
            await self._continue("the new version", self._running)
        report.rows["scenarios that ended"] = f"{len(self.ended)}: {_counted(self.ended)}"
        report.require_none("scenarios that failed", self.failures)
        dead = [f"{name}: {dict(row)}" for name in _SERVICES for row in await rows_of(self.system, name, _DEAD)]
        report.require_none("dead letters", dead)

    @property
    def _scenarios(self) -> Mapping[str, Callable[[], AsyncIterator[None]]]:
        return {
            "payout": self._payout,
            "refund": self._refund,
            "lost chargeback": lambda: self._chargeback("lose", "lost"),
            "won chargeback": lambda: self._chargeback("win", "won"),
            "split": self._split,
            "return": self._return,
            "balance": self._balance,
        }

    async def _continue(self, versions: str, scenarios: Sequence[tuple[str, AsyncIterator[None]]]) -> None:
        await self._renew()
        self._running = []
        await asyncio.gather(*(self._step(versions, name, steps) for name, steps in scenarios))

    async def _renew(self) -> None:
        """Sign in again: a change of versions may take as long as a token lives."""
        for user in (self.buyer, self.vendor):
            user.access_token = (await self.market.sign_in(user.email)).access_token
        for role in _STAFF:
            email = f"{role}@campus.example"
            self.staff[role] = await self.market.sign_in_with_two_factors(email, role.upper())

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
        await pay_out(self.market, self.vendor, self.staff["maker"], _PAYOUT_MINOR)

    async def _refund(self) -> AsyncIterator[None]:
        order_id = await purchase(self.market, self.buyer, self.product_id)
        yield
        body = {"reason": "Sold out."}
        await self.market.post(f"/api/orders/{order_id}/cancel", body, self.vendor, key=uuid4())
        yield
        await self.market.order_reaches(self.buyer, order_id, "refunded", within=_WITHIN_SECONDS)

    async def _split(self) -> AsyncIterator[None]:
        order_id = await purchase(self.market, self.buyer, self.product_id)
        yield
        complaint = {"reason": "never came", "details": "I waited at the gate for two hours."}
        await self.market.post(f"/api/orders/{order_id}/dispute", complaint, self.buyer, key=uuid4())
        yield
        body = {"outcome": "split", "refundMinor": _PRICE_MINOR // 4}
        made = await self.market.post(f"/api/orders/{order_id}/resolve", body, self.staff["support"], key=uuid4())
        yield
        path, read = f"/api/dispute-resolutions/{made['resolutionId']}/approve", {"hash": made["hash"]}
        await self.market.post(path, read, self.staff["checker"], key=uuid4())
        yield
        await self._refunded_reaches(order_id, _PRICE_MINOR // 4)

    async def _return(self) -> AsyncIterator[None]:
        order_id = await purchase(self.market, self.buyer, self.product_id)
        await deliver(self.market, self.vendor, self.buyer, order_id)
        yield
        order = await self.market.order(self.buyer, order_id)
        body = {"items": [{"itemId": order["items"][0]["id"], "quantity": 1}], "reason": "The zip is torn."}
        made = await self.market.post(f"/api/orders/{order_id}/return-requests", body, self.buyer, key=uuid4())
        yield
        await self.market.post(f"/api/return-requests/{made['id']}/approve", {}, self.vendor, key=uuid4())
        yield
        await self._refunded_reaches(order_id, order["subtotalMinor"])

    async def _balance(self) -> AsyncIterator[None]:
        order_id = await purchase(self.market, self.buyer, self.product_id)
        body = {"reason": "Too late.", "refundTo": "balance"}
        await self.market.post(f"/api/orders/{order_id}/cancel", body, self.buyer, key=uuid4())
        yield

        async def is_refunded() -> bool:
            return bool((await self.market.get("/api/balance", self.buyer))["availableMinor"] >= _PRICE_MINOR)

        await self.market.until("the refund is in the balance", is_refunded, _WITHIN_SECONDS, every=0.5)
        made = await self.market.purchase(self.buyer, self.product_id)
        yield
        await self.market.pay_purchase_intent(self.buyer, made["id"], balance_minor=_PRICE_MINOR)
        yield
        within = _WITHIN_SECONDS
        await self.market.order_reaches(self.buyer, made["orders"][0]["id"], "paid_escrow", within=within)

    async def _refunded_reaches(self, order_id: str, amount_minor: int) -> None:
        """Wait until the order shows that this was refunded, in kobo."""

        async def probe() -> bool:
            return bool((await self.market.order(self.buyer, order_id))["refundedMinor"] == amount_minor)

        await self.market.until(f"{amount_minor} kobo of {order_id} are refunded", probe, _WITHIN_SECONDS, every=0.5)

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


def _counted(scenarios: Iterable[str]) -> str:
    counts = Counter(scenario.partition(",")[0] for scenario in scenarios)
    return ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
