"""The sampled part: real processes of a real system end by SIGKILL at chosen effects of a purchase and a payout."""

import random
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from campus_tools.launcher.system import System
from lab.stepped.effects import SIDES, Kind, Side
from lab.systems import Log, broken_invariants, temporary_system, transfers_of
from lab.trade import add_product, deliver, pay_out, purchase
from operations.journey import Marketplace, SignedInUser

PRICE_MINOR: Final = 250_000
PAYOUT_MINOR: Final = 20_000
_FIRST_OF_EACH: Final = 4
_VICTIMS: Final[Mapping[str, Sequence[Kind]]] = {
    "api-gateway": ("statement",),
    "orders-api": ("statement", "commit", "publish"),
    "orders-worker": ("statement", "commit", "publish", "acknowledgement"),
    "payments-api": ("statement", "commit", "publish", "call"),
    "payments-worker": ("statement", "commit", "publish", "acknowledgement"),
    "payouts-api": ("statement", "commit", "publish", "call"),
    "payouts-worker": ("statement", "commit", "publish", "acknowledgement"),
}
_SETTLED_SECONDS_MAX: Final = 180.0
# Well within the life of a token.
_SIGNED_IN_SECONDS: Final = 300.0
_INJECTED: Final = Path(__file__).parent / "injected"


@dataclass(frozen=True, slots=True)
class Kill:
    """A process, and the effect of it: the `number`-th of this kind from the start of a run."""

    process: str
    kind: Kind
    number: int
    side: Side


@dataclass(slots=True)
class KillFigures:
    """How many kills happened, and the runs that did not reach their end."""

    kills: int = 0
    not_reached: int = 0
    broken: list[str] = field(default_factory=list)
    broken_invariants: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def holds(self) -> bool:
        return not self.broken and not self.broken_invariants


def kills_of(count: int, seed: int) -> list[Kill]:
    """Return a sample over all processes and kinds."""
    chosen = random.Random(seed)
    every = [
        Kill(process, kind, number, side)
        for process, kinds in _VICTIMS.items()
        for kind in kinds
        for number in range(_FIRST_OF_EACH)
        for side in SIDES
    ]
    return chosen.sample(every, min(count, len(every)))


async def kill_processes(kills: Sequence[Kill], log: Log) -> KillFigures:
    """Return a purchase and a payout for each kill, on one system; the audit at the end."""
    figures, began = KillFigures(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="campus-kills-") as folder:
        environment = {"PYTHONPATH": str(_INJECTED), "PYTHON_CRASH_FOLDER": folder, "IDEMPOTENCY_LOCK_SECONDS": "5"}
        async with temporary_system("crash-points", log, environment) as (system, market):
            market.wait_seconds_max = _SETTLED_SECONDS_MAX
            users = await _Users.of(market)
            for kill in kills:
                plan = Path(folder) / kill.process
                await users.journey()
                plan.write_text(f"{kill.kind} {kill.number} {kill.side}")
                try:
                    await users.journey()
                except Exception as error:
                    figures.broken.append(f"{kill}: {type(error).__name__}: {error}")
                    log(f"BROKEN {figures.broken[-1]}")
                fired = plan.with_name(plan.name + ".fired")
                figures.kills += fired.exists()
                figures.not_reached += not fired.exists()
                for left in (plan, fired):
                    left.unlink(missing_ok=True)
            figures.broken_invariants = await _verdict(system, market, log)
    figures.seconds = time.monotonic() - began
    return figures


async def _verdict(system: System, market: Marketplace, log: Log) -> tuple[str, ...]:
    amounts = [transfer["reference"] for transfer in await transfers_of(market)]
    doubled = [] if len(amounts) == len(set(amounts)) else ["a transfer was accepted twice"]
    return (*doubled, *await broken_invariants(system, market, log))


@dataclass(slots=True)
class _Users:
    market: Marketplace
    product_id: str
    runs: int = 0
    # A code of the second factor works once, so one sign-in lasts for several runs.
    maker: SignedInUser | None = None
    maker_since: float = 0.0

    @classmethod
    async def of(cls, market: Marketplace) -> "_Users":
        vendor = await market.sign_in("vendor@unilag.edu.ng")
        return cls(market, await add_product(market, vendor, PRICE_MINOR, 10_000))

    async def journey(self) -> None:
        """Run a purchase to its release, and a payout to its confirmation; each amount at the gateway once."""
        market, self.runs = self.market, self.runs + 1
        amount_minor = PAYOUT_MINOR + self.runs
        buyer = await market.sign_in("buyer@unilag.edu.ng")
        vendor = await market.sign_in("vendor@unilag.edu.ng")
        await deliver(market, vendor, buyer, await purchase(market, buyer, self.product_id))
        payout_id = await pay_out(market, vendor, await self._signed_in_maker(), amount_minor)
        moved = [line for line in await transfers_of(market) if line["amount"] == amount_minor]
        if [line["status"] for line in moved] != ["success"]:
            raise AssertionError(f"payout {payout_id}: {moved}")

    async def _signed_in_maker(self) -> SignedInUser:
        if self.maker is None or time.monotonic() - self.maker_since > _SIGNED_IN_SECONDS:
            self.maker = await self.market.sign_in_with_two_factors("maker@campus.example", "MAKER")
            self.maker_since = time.monotonic()
        return self.maker
