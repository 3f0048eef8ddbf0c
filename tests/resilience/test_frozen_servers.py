"""A server that freezes under load: clients see silence, then everything that was acknowledged arrives without a
hand.
"""

import pytest

from campus_tools.launcher.system import System
from lab.drills.freeze import FROZEN, drill_freeze
from operations.journey import Marketplace

pytestmark = pytest.mark.long

# Longer than the limits for a confirm and for a channel. `make freeze-drill` has the freezes that outlast a heartbeat.
FROZEN_SECONDS = 12.0


# Redis is part of the drill's own system; `test_quotas.py` of the gateway freezes it.
@pytest.mark.parametrize("server", [name for name in FROZEN if name != "redis"])
async def test_everything_acknowledged_arrives_after_a_freeze(server: str, system: System, market: Marketplace) -> None:
    report = await drill_freeze(system, market, server, FROZEN_SECONDS, lambda _: None)
    assert report.holds, report
