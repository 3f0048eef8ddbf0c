"""Parts of the broker's topology, deleted under its clients."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import quote

import httpx

from campus_tools.launcher.system import System
from common.messaging.declaring import declare_broker
from contracts.payments import EscrowHeld
from contracts.topology import EVENTS_EXCHANGE
from lab.drills.restore import PUBLISHERS
from lab.systems import Log

# Payments' charges and refunds, as orders receives them.
_QUEUE: Final = "orders.payments"
QUEUE: Final = ("queues", "/", _QUEUE)
EXCHANGE: Final = ("exchanges", "/", EVENTS_EXCHANGE)
BINDING: Final = ("bindings", "/", "e", EVENTS_EXCHANGE, "q", _QUEUE, EscrowHeld.TYPE)
# What the queue held was published before.
_EARLIER: Final = timedelta(minutes=1)


@asynccontextmanager
async def deleted(system: System, log: Log, *path: str) -> AsyncIterator[None]:
    """Delete a resource of the management API; at the end run the commands of the runbook: declare again, and
    republish.

    Raises:
        ChildProcessError: a service could not republish its messages.
    """
    since = (datetime.now(UTC) - _EARLIER).isoformat()
    async with httpx.AsyncClient(base_url=system.servers.management_url, trust_env=False, timeout=30) as management:
        address = "/".join(quote(part, safe="") for part in path)
        (await management.delete(f"/api/{address}")).raise_for_status()
    yield
    log("declaring the queues again, and publishing again what was published meanwhile")
    await declare_broker(system.servers.broker_url, {})
    for service in PUBLISHERS:
        code, output = await asyncio.to_thread(system.command, service, "republish", "--since", since)
        if code:
            raise ChildProcessError(f"republish of {service}: {output}")
