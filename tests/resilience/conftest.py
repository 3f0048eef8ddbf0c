"""A system of its own for the tests that kill its parts or restart them with another gateway: with short timers of
nothing, and the specification's ladder made quick.
"""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from campus_tools.launcher.system import System
from operations.journey import Marketplace
from testkit.marketplaces import marketplace_at
from testkit.workers import throwaway_state

SETTINGS = {
    "TRUSTED_PROXIES": "127.0.0.1,127.0.0.2",
    "RATE_TIER_1": "1000000",
    "RATE_TIER_2": "1000000",
    "RATE_TIER_3": "1000000",
    "RATE_TIER_4": "1000000",
    "RATE_TIER_4_ADDRESS": "1000000",
    "RATE_REFUSED_REFRESHES": "1000000",
    # Dense enough for a test, long enough to bridge the restart of a server.
    "RETRY_DELAYS_SECONDS": "0.5,1,2,5,10",
    # Longer than any request here. A gateway whose database died under it cannot give the lease back.
    "IDEMPOTENCY_LOCK_SECONDS": "30",
    "UNPAID_ORDERS_MAX": "1000",
}


@pytest.fixture(scope="package")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    with (
        throwaway_state(tmp_path_factory.mktemp("logs")) as state_dir,
        System(state_dir, environment=SETTINGS) as running,
    ):
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def market(system: System) -> AsyncIterator[Marketplace]:
    """Yield a patient client: it repeats what a good client repeats, with the same idempotency keys."""
    market = marketplace_at(system.base_url, system.sandbox_url, system.secrets, patient=True)
    # Longer than the lease of an idempotency key.
    market.wait_seconds_max = 120
    yield market
    await market.close()
