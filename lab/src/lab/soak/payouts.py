"""Payouts through a gateway with calls that time out and calls that fail after the money has moved.

Each payout has a unique amount, which selects the failing calls and identifies its transfers at the sandbox. Transfers
are counted there, not in the service.
"""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

from campus_tools.launcher.system import System
from lab.histories.verdict import record_verdict
from lab.report import Report
from lab.systems import Log, broken_invariants
from lab.trade import add_product, hand_over, purchase
from operations.journey import Marketplace, SignedInUser

FIRST_AMOUNT_MINOR: Final = 10_000
# Requests of one vendor wait for the lock of its wallet.
REQUESTERS: Final = 4
# Unknown transfers are queried at once; this limit allows for a slow machine.
_SETTLED_SECONDS_MAX: Final = 300.0
_PAGE: Final = 100


@dataclass(frozen=True, slots=True)
class PayoutLoad:
    """The number of payouts, and the percentages of calls without a response and with an error after acceptance."""

    count: int
    timeouts_percent: float = 5.0
    errors_percent: float = 2.0

    @property
    def timeouts(self) -> int:
        return round(self.count * self.timeouts_percent / 100)

    @property
    def errors(self) -> int:
        return round(self.count * self.errors_percent / 100)


async def soak_payouts(system: System, market: Marketplace, load: PayoutLoad, log: Log) -> Report:
    """Fund a wallet, request and dispatch all payouts with failing calls, wait for their results, and audit."""
    amounts = [FIRST_AMOUNT_MINOR + number for number in range(load.count)]
    log("funding the vendor's wallet with an order")
    vendor = await _rich_vendor(market, sum(amounts))
    log(f"requesting {load.count} payouts")
    payouts = await _request(market, vendor, amounts)
    await _break_calls(market, amounts, load)
    try:
        log(f"dispatching; {load.timeouts} calls time out, {load.errors} fail after acceptance")
        maker = await market.sign_in_with_two_factors("maker@campus.example", "MAKER")
        batches, times = await _dispatch(market, maker)
        unknown = sum(line["status"] == "unknown" for batch in batches for line in batch["transfers"])
        log("waiting for the results of unknown transfers")
        began = time.monotonic()
        statuses = await _settled(market, maker, payouts)
        settled_seconds = time.monotonic() - began
    finally:
        await market.sandbox.put("/control/faults", json={"transfer_call": None})
    report = Report()
    report.rows["payouts, in batches"] = f"{load.count}, {len(batches)}"
    report.rows["calls without a response, errors after acceptance"] = f"{load.timeouts}, {load.errors}"
    report.rows["longest dispatch"] = f"{max(times):.1f} s"
    report.rows["unknown after the dispatch"] = str(unknown)
    report.rows["all settled after the last dispatch"] = f"{settled_seconds:.1f} s"
    report.require("statuses", dict(statuses), holds=statuses == {"processed": load.count})
    await record_verdict(report, system, market)
    report.require_none("violated invariants of the audit", await broken_invariants(system, market, log, 30))
    return report


async def _rich_vendor(market: Marketplace, net_minor: int) -> SignedInUser:
    """Return a demo vendor whose wallet holds at least this much, earned with one order."""
    vendor, buyer = await market.sign_in("vendor@unilag.edu.ng"), await market.sign_in("buyer@unilag.edu.ng")
    order_id = await purchase(market, buyer, await add_product(market, vendor, net_minor * 2, 1))
    await hand_over(market, vendor, buyer, order_id)
    await market.wallet_reaches(vendor, net_minor)
    return vendor


async def _request(market: Marketplace, vendor: SignedInUser, amounts: list[int]) -> set[str]:
    turn = asyncio.Semaphore(REQUESTERS)

    async def one(amount_minor: int) -> str:
        async with turn:
            return str((await market.request_payout(vendor, amount_minor))["id"])

    return set(await asyncio.gather(*(one(amount) for amount in amounts)))


async def _break_calls(market: Marketplace, amounts: list[int], load: PayoutLoad) -> None:
    """Make calls fail, spread over all batches. Each rule applies to one call: a second one would move money."""
    broken = load.timeouts + load.errors
    every = max(1, load.count // max(1, broken))
    chosen = amounts[::every][:broken]
    rules = [
        {"match": amount, "times": 1, **({"timeout": True} if place < load.timeouts else {"error_after": True})}
        for place, amount in enumerate(chosen)
    ]
    (await market.sandbox.put("/control/faults", json={"transfer_call": rules})).raise_for_status()


async def _dispatch(market: Marketplace, maker: SignedInUser) -> tuple[list[dict[str, Any]], list[float]]:
    """Dispatch pending payouts in batches until none remains."""
    batches: list[dict[str, Any]] = []
    times: list[float] = []
    while not batches or batches[-1]["remaining"]:
        began = time.monotonic()
        batches.append(dict(await market.post("/api/payouts/dispatch", {}, maker, key=uuid4())))
        times.append(time.monotonic() - began)
    return batches, times


async def _settled(market: Marketplace, maker: SignedInUser, payouts: set[str]) -> Counter[str]:
    """Return the statuses of the payouts when none is pending, or at the time limit."""
    seen: Counter[str] = Counter()

    async def check() -> Counter[str] | None:
        nonlocal seen
        seen = Counter([payout["status"] for payout in await _list(market, maker) if payout["id"] in payouts])
        return None if seen["pending"] else seen

    try:
        return await Marketplace.until("all payouts settled", check, _SETTLED_SECONDS_MAX, every=1.0)
    except TimeoutError:
        return seen


async def _list(market: Marketplace, maker: SignedInUser) -> list[dict[str, Any]]:
    payouts: list[dict[str, Any]] = []
    while True:
        page = {"limit": _PAGE, "page": len(payouts) // _PAGE + 1}
        lines = await market.get("/api/payouts", maker, params=page)
        payouts += lines
        if len(lines) < _PAGE:
            return payouts
