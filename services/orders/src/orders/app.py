"""Composition root: settings to dependencies, and the service as a value."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from common.clock import Clock
from common.cursors import CursorSigner
from common.database import Database
from common.process import Loop, Runtime, Service
from common.sealing import Sealer
from orders.consumers import SUBSCRIPTIONS
from orders.demo import load_demo_data
from orders.domain.orders import Windows
from orders.domain.pins import PinKey
from orders.routes.delivery import router as delivery
from orders.routes.orders import router as orders
from orders.routes.products import router as products
from orders.routes.products import shelves
from orders.routes.reviews import router as reviews
from orders.settings import Settings
from orders.timers import TIMERS_EVERY_SECONDS, fire_timers_once
from orders.use_cases.issue_delivery_pin import PinOffice


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What the doors of this service need."""

    settings: Settings
    clock: Clock
    database: Database
    cursors: CursorSigner
    windows: Windows
    pins: PinOffice


@asynccontextmanager
async def compose(settings: Settings, runtime: Runtime) -> AsyncIterator[Dependencies]:
    """Nothing here needs closing: the runtime holds the connections."""
    yield Dependencies(
        settings=settings,
        clock=runtime.clock,
        database=runtime.database,
        cursors=CursorSigner(settings.cursor_key),
        windows=Windows(
            payment=timedelta(seconds=settings.payment_window_seconds),
            vendor_idle=timedelta(seconds=settings.vendor_idle_seconds),
            pin=timedelta(seconds=settings.pin_window_seconds),
        ),
        pins=PinOffice(
            key=PinKey(settings.pin_key),
            # Two seals: what is kept for the buyer, which nobody but this service opens, and what travels to notifications.
            kept=Sealer(settings.pin_key),
            sent=Sealer(settings.sealing_key),
            length=settings.delivery_pin_length,
        ),
    )


def loops(dependencies: Dependencies) -> list[Loop]:
    """The timers of orders."""
    return [Loop("timers", lambda: fire_timers_once(dependencies), TIMERS_EVERY_SECONDS)]


SERVICE = Service(
    name="orders",
    settings=Settings,
    compose=compose,
    routers=[shelves, products, orders, delivery, reviews],
    subscriptions=SUBSCRIPTIONS,
    loops=loops,
    commands={"demo-data": load_demo_data},
)
