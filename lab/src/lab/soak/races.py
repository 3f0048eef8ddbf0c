"""Two conflicting requests at once: one outcome per round, and a correct ledger for every order.

Each round has its own order, paid at the sandbox. The first request and its head start change from round to round, so
that the requests collide at every step.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from uuid import uuid4

import httpx

from lab.soak.stock import add_stock
from lab.systems import Log
from operations.journey import Marketplace, SignedInUser

Order = Mapping[str, Any]
Sending = Callable[[], Awaitable[httpx.Response]]

# New products, and new sessions when the old ones are near their end, after this number of rounds.
PIECE: Final = 100
# Tokens and second factors are valid for fifteen minutes; a piece takes a minute or two.
SIGNED_IN_SECONDS: Final = 480.0
# Concurrent rounds keep the services and their database busy.
AT_ONCE: Final = 4
# The delay of the later request in milliseconds; positive for the second, negative for the first.
HEAD_STARTS_MS: Final = (0, 2, -2, 5, -5, 10, -10, 20, -20, 40, -40, 100, -100)


class RacesImpossible(Exception):
    """The races cannot run on this system; the message states the reason."""


@dataclass(frozen=True, slots=True)
class Cast:
    """The users of a race. The checker has two sessions: the demo data has one user who may release."""

    buyer: SignedInUser
    vendor: SignedInUser
    checker: SignedInUser
    checker_again: SignedInUser
    auditor: SignedInUser


@dataclass(frozen=True, slots=True)
class Figures:
    """The outcomes of a race with their numbers, and the faults of wrong rounds."""

    race: str
    rounds: int
    outcomes: Mapping[str, int]
    wrong: tuple[str, ...]


class WrongOutcome(Exception):
    """A round ended with a wrong outcome."""


@dataclass(frozen=True, slots=True)
class Round:
    """One order in escrow, and the requests of a race."""

    market: Marketplace
    cast: Cast
    order: Order
    head_start_ms: int

    @property
    def total_minor(self) -> int:
        """The order's total in kobo."""
        return int(self.order["totalMinor"])

    async def meet(self, one: Sending, other: Sending) -> tuple[httpx.Response, httpx.Response]:
        """Send both requests, one with a head start. Raises RacesImpossible at a quota."""

        async def late(send: Sending, milliseconds: int) -> httpx.Response:
            await asyncio.sleep(max(0, milliseconds) / 1000)
            return await send()

        first, second = await asyncio.gather(late(one, -self.head_start_ms), late(other, self.head_start_ms))
        if 429 in (first.status_code, second.status_code):
            raise RacesImpossible("a quota was exceeded: start the system with RATE_TIER_2, _3 and _4 raised")
        return first, second

    async def call(self, user: SignedInUser, path: str, body: Mapping[str, Any]) -> httpx.Response:
        """POST to the order with a new idempotency key, without retries."""
        headers = {**user.headers, "Idempotency-Key": str(uuid4())}
        return await self.market.http.post(f"/api/orders/{self.order['id']}/{path}", json=body, headers=headers)

    def release(self, checker: SignedInUser, amount_minor: int) -> Sending:
        return partial(self.call, checker, "release", {"amountMinor": amount_minor})

    def cancel(self, user: SignedInUser) -> Sending:
        return partial(self.call, user, "cancel", {"reason": "a race"})

    def verify(self, pin: str) -> Sending:
        return partial(self.call, self.cast.vendor, "verify-delivery", {"pin": pin})

    async def ends(self, status: str) -> None:
        """Wait for the order's final state. Raises WrongOutcome unless the ledger agrees."""
        try:
            await self.market.order_reaches(self.cast.buyer, str(self.order["id"]), status)
        except TimeoutError as error:
            raise WrongOutcome(f"never {status}") from error
        sums = await self._sums()
        kept_minor = self.total_minor if status == "paid" else 0
        expected = {"escrow": 0, "refund_payable": 0, "gateway_cash": kept_minor, "earned": -kept_minor}
        if sums != expected:
            raise WrongOutcome(f"{status}, but the ledger has {sums}")

    async def _sums(self) -> dict[str, int]:
        """Return the order's balances in kobo, debit positive; `earned` is the share of vendor and platform."""
        parameters = {"orderId": self.order["id"], "limit": 100}
        sums = {"escrow": 0, "refund_payable": 0, "gateway_cash": 0, "earned": 0}
        for transaction in await self.market.get("/api/transactions", self.cast.auditor, params=parameters):
            # The gateway's fee does not change the shares of buyer and vendor.
            for entry in () if transaction["type"] == "gateway_fee" else transaction["entries"]:
                kind = entry["account"].split(":", 1)[0]
                sums[kind if kind in sums else "earned"] += entry["amountMinor"]
        return sums


async def two_releases(round_: Round) -> str:
    """Two releases of more than half: one succeeds, and the rest is released after that."""
    part = round_.total_minor // 2 + 1
    one, other = await round_.meet(
        round_.release(round_.cast.checker, part), round_.release(round_.cast.checker_again, part)
    )
    if sorted(_codes(one, other)) != ["200", "409 ESCROW_BALANCE_DEFICIT"]:
        raise WrongOutcome(f"the responses are {_codes(one, other)}")
    rest = await round_.release(round_.cast.checker, round_.total_minor - part)()
    if rest.status_code != 200 or rest.json()["data"]["remainingLockedMinor"] != 0:
        raise WrongOutcome(f"the rest: {rest.text}")
    await round_.ends("paid")
    return "the first succeeded" if one.status_code == 200 else "the second succeeded"


async def release_against_refund(round_: Round) -> str:
    """Staff release all while the buyer cancels: a later refund debits the recipients of the release."""
    released, cancelled = await round_.meet(
        round_.release(round_.cast.checker, round_.total_minor), round_.cancel(round_.cast.buyer)
    )
    allowed = {
        (200, 200): ("refunded", "released, then refunded from the vendor"),
        (409, 200): ("refunded", "refunded"),
        (200, 409): ("paid", "released"),
    }
    ended = allowed.get((released.status_code, cancelled.status_code))
    if ended is None:
        raise WrongOutcome(f"the responses are {_codes(released, cancelled)}")
    await round_.ends(ended[0])
    return ended[1]


async def verify_against_cancel(round_: Round) -> str:
    """Verify the PIN while the buyer or the vendor cancels: the order is delivered or cancelled, never both."""
    pin = await round_.market.delivery_pin(round_.cast.buyer, str(round_.order["id"]))
    canceller = round_.cast.buyer if round_.total_minor % 2 else round_.cast.vendor
    verified, cancelled = await round_.meet(round_.verify(pin), round_.cancel(canceller))
    allowed = {(200, 409): ("paid", "delivered and paid"), (409, 200): ("refunded", "cancelled and refunded")}
    ended = allowed.get((verified.status_code, cancelled.status_code))
    if ended is None:
        raise WrongOutcome(f"the responses are {_codes(verified, cancelled)}")
    await round_.ends(ended[0])
    return ended[1]


RACES: Final[Mapping[str, Callable[[Round], Awaitable[str]]]] = {
    "two releases": two_releases,
    "release against refund": release_against_refund,
    "verify against cancel": verify_against_cancel,
}


async def run_races(market: Marketplace, rounds: int, log: Log, cast: Cast | None = None) -> list[Figures]:
    """Run all races, each with this number of rounds, with this cast or with new sessions.

    Raises RacesImpossible at a quota, and StepFailed when an order cannot be made.
    """
    figures, signed_in = [], time.monotonic()
    for name, race in RACES.items():
        outcomes: Counter[str] = Counter()
        wrong: list[str] = []
        for start in range(0, rounds, PIECE):
            piece = range(start, min(start + PIECE, rounds))
            if cast is None or time.monotonic() - signed_in > SIGNED_IN_SECONDS:
                cast, signed_in = await _cast(market), time.monotonic()
            product_ids = await add_stock(market, cast.vendor, len(piece))
            log(f"{name}: rounds {piece.start + 1} to {piece.stop}")
            gate = asyncio.Semaphore(AT_ONCE)
            tasks = [_run(gate, market, cast, product_ids[number % len(product_ids)], race, number) for number in piece]
            for outcome, mistake in await asyncio.gather(*tasks):
                outcomes[outcome] += 1
                wrong += [mistake] if mistake else []
        figures.append(Figures(name, rounds, dict(sorted(outcomes.items())), tuple(wrong)))
    return figures


async def _run(
    gate: asyncio.Semaphore,
    market: Marketplace,
    cast: Cast,
    product_id: str,
    race: Callable[[Round], Awaitable[str]],
    number: int,
) -> tuple[str, str | None]:
    """Return the outcome of a round, and its fault."""
    async with gate:
        order = await market.checkout(cast.buyer, product_id)
        await market.pay(await market.pay_intent(cast.buyer, order["id"]))
        await market.order_reaches(cast.buyer, order["id"], "paid_escrow")
        try:
            return await race(Round(market, cast, order, HEAD_STARTS_MS[number % len(HEAD_STARTS_MS)])), None
        except WrongOutcome as error:
            return "WRONG", f"order {order['id']}: {error}"


async def _cast(market: Marketplace) -> Cast:
    checker = await market.sign_in_with_two_factors("checker@campus.example", "CHECKER")
    return Cast(
        buyer=await market.sign_in("buyer@unilag.edu.ng"),
        vendor=await market.sign_in("vendor@unilag.edu.ng"),
        checker=checker,
        checker_again=await market.sign_in_with_two_factors("checker@campus.example", "CHECKER"),
        auditor=await market.sign_in_with_two_factors("auditor@campus.example", "AUDITOR"),
    )


def _codes(*responses: httpx.Response) -> list[str]:
    """Return the status and the problem's code of each response."""
    return [f"{response.status_code} {response.json().get('code', '')}".strip() for response in responses]
