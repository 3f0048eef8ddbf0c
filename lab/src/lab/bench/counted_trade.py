"""Orders and payouts of one vendor, whose costs are counted."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from lab.bench.counting import Counters
from lab.orders import Trade
from lab.systems import RunningSystem


@asynccontextmanager
async def counted_trade(system: RunningSystem) -> AsyncIterator[tuple[Counters, Trade]]:
    """Yield the counters of a system and a trade on it."""
    counters = await Counters.open(system)
    try:
        async with system.market() as market:
            yield counters, await Trade.open(market, counters.administrator, stock=1_000_000)
    finally:
        await counters.close()
