"""Composition root of the payouts service."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx

from common.clock import Clock
from common.cursors import CursorSigner
from common.database import Database
from common.process import Loop, Runtime, Service
from common.tls import client_tls
from payouts.clients.gateway import Gateway
from payouts.consumers import SUBSCRIPTIONS, WORK
from payouts.demo import load_demo_data
from payouts.routes import ROUTERS
from payouts.settings import Settings
from payouts.timers import take_up_due_transfers

# A transfer that became due waits at most this long; the queue `payouts.transfers` brings the urgent ones at once.
TAKE_UP_EVERY_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What routes, consumers and timers of this service work with."""

    settings: Settings
    clock: Clock
    database: Database
    cursors: CursorSigner
    gateway: Gateway


@asynccontextmanager
async def compose(settings: Settings, runtime: Runtime) -> AsyncIterator[Dependencies]:
    """Opens the client of the payment gateway and puts the parts together."""
    async with httpx.AsyncClient(
        base_url=settings.gateway_api_url.rstrip("/") + "/",
        headers={"Authorization": f"Bearer {settings.gateway_secret_key}"},
        timeout=settings.gateway_timeout_seconds,
        verify=client_tls(),
    ) as client:
        yield Dependencies(
            settings,
            runtime.clock,
            runtime.database,
            CursorSigner(settings.cursor_key),
            Gateway(client, settings.gateway_timeout_seconds),
        )


def loops(dependencies: Dependencies) -> Sequence[Loop]:
    async def take_up() -> int:
        return await take_up_due_transfers(dependencies.database, dependencies.gateway, dependencies.clock)

    return [Loop("due-transfers", take_up, TAKE_UP_EVERY_SECONDS)]


async def load_demo(dependencies: Dependencies) -> None:
    await load_demo_data(dependencies.database, dependencies.clock)


SERVICE = Service(
    name="payouts",
    settings=Settings,
    compose=compose,
    routers=ROUTERS,
    subscriptions=SUBSCRIPTIONS,
    work_items=WORK,
    loops=loops,
    commands={"demo-data": load_demo},
)
