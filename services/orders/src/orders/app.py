"""Composition root: settings to dependencies, and the service as a value."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from common.clock import Clock
from common.cursors import CursorSigner
from common.database import Database
from common.leaving_pictures import EVERY_SECONDS as PICTURES_EVERY_SECONDS
from common.leaving_pictures import remove_pictures_once
from common.media import MediaStore, open_media_store
from common.pictures import Studio
from common.process import Loop, Runtime, Service
from common.retention import Rule
from common.sealing import Sealer
from orders.consumers import SUBSCRIPTIONS
from orders.demo import load_demo_data
from orders.domain.orders import Windows
from orders.domain.pins import PinKey
from orders.queries.personal_records import SECTIONS
from orders.routes.campus_orders import router as campus_orders
from orders.routes.carts import router as carts
from orders.routes.delivery import router as delivery
from orders.routes.disputes import router as disputes
from orders.routes.media import router as media
from orders.routes.merchants import router as merchants
from orders.routes.orders import router as orders
from orders.routes.products import router as products
from orders.routes.products import shelves
from orders.routes.returns import router as returns
from orders.routes.reviews import router as reviews
from orders.routes.sales import router as sales
from orders.settings import Settings
from orders.store import retention
from orders.store.pictures import ALBUM
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
    studio: Studio
    media: MediaStore
    media_url: str


@asynccontextmanager
async def compose(settings: Settings, runtime: Runtime) -> AsyncIterator[Dependencies]:
    """The runtime holds the connections; what is closed here is what pictures need."""
    async with AsyncExitStack() as stack:
        studio = Studio()
        stack.callback(studio.close)
        media = await open_media_store(settings, runtime.clock, stack)
        yield _dependencies(settings, runtime, studio, media)


def _dependencies(settings: Settings, runtime: Runtime, studio: Studio, media: MediaStore) -> Dependencies:
    return Dependencies(
        settings=settings,
        clock=runtime.clock,
        database=runtime.database,
        cursors=CursorSigner(settings.cursor_key),
        windows=Windows(
            payment=timedelta(seconds=settings.payment_window_seconds),
            vendor_idle=timedelta(seconds=settings.vendor_idle_seconds),
            pin=timedelta(seconds=settings.pin_window_seconds),
            returns=timedelta(seconds=settings.return_window_seconds),
        ),
        pins=PinOffice(
            key=PinKey(settings.pin_key),
            # Two seals: what is kept for the buyer, which nobody but this service opens, and what travels to notifications.
            kept=Sealer(settings.pin_key),
            sent=Sealer(settings.sealing_key),
            length=settings.delivery_pin_length,
        ),
        studio=studio,
        media=media,
        media_url=(settings.media_url or f"{settings.base_url}/media").rstrip("/"),
    )


def loops(dependencies: Dependencies) -> list[Loop]:
    """The timers of orders, and the pictures that leave."""
    return [
        Loop("timers", lambda: fire_timers_once(dependencies), TIMERS_EVERY_SECONDS),
        Loop(
            "pictures that leave",
            lambda: remove_pictures_once(dependencies.database, dependencies.media, ALBUM, dependencies.clock),
            PICTURES_EVERY_SECONDS,
        ),
    ]


def kept(dependencies: Dependencies) -> Sequence[Rule]:
    """What leaves by itself."""
    return retention.kept(timedelta(days=dependencies.settings.delivery_pins_keep_days))


SERVICE = Service(
    name="orders",
    settings=Settings,
    compose=compose,
    routers=[
        shelves,
        merchants,
        products,
        media,
        orders,
        delivery,
        disputes,
        returns,
        campus_orders,
        reviews,
        carts,
        sales,
    ],
    personal_records=SECTIONS,
    subscriptions=SUBSCRIPTIONS,
    loops=loops,
    kept=kept,
    commands={"demo-data": load_demo_data},
)
