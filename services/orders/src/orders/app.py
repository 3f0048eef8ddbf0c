"""Composition root: settings to dependencies, and the service as a value."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta

from common.database.reencryption import COMMAND as REENCRYPT
from common.database.reencryption import EncryptedMessages, reencrypt_by_command
from common.database.retention import Rule
from common.media.cleanup import EVERY_SECONDS as PICTURES_EVERY_SECONDS
from common.media.cleanup import remove_images_once
from common.media.images import ImageProcessor
from common.media.storage import MediaStore, open_media_store
from common.primitives.cursors import CursorSigner
from common.primitives.encryption import Encryptor
from common.process.service import Loop, Runtime, Service
from contracts.orders import PIN_DELIVERY, DeliveryPinIssued
from orders.consumers import SUBSCRIPTIONS
from orders.demo import load_demo_data
from orders.dependencies import Dependencies
from orders.domain.orders import Windows
from orders.domain.pins import PinKey
from orders.queries.personal_records import SECTIONS
from orders.routes.campus_orders import router as campus_orders
from orders.routes.carts import router as carts
from orders.routes.delivery import router as delivery
from orders.routes.disputes import router as disputes
from orders.routes.flash_sales import router as sales
from orders.routes.media import router as media
from orders.routes.orders import router as orders
from orders.routes.own_products import router as merchants
from orders.routes.products import router as products
from orders.routes.products import shelves
from orders.routes.returns import router as returns
from orders.routes.reviews import router as reviews
from orders.settings import Settings
from orders.store import retention
from orders.store.images import MEDIA
from orders.store.pins import encrypted_pins
from orders.timers import TIMERS_EVERY_SECONDS, fire_timers_once
from orders.use_cases.delivery.check_pin_key import check_pin_key
from orders.use_cases.delivery.issue_delivery_pin import PinIssuer


@asynccontextmanager
async def compose(settings: Settings, runtime: Runtime) -> AsyncIterator[Dependencies]:
    """The runtime holds the connections; what is closed here is what pictures need."""
    async with AsyncExitStack() as stack:
        image_processor = ImageProcessor()
        stack.callback(image_processor.close)
        media = await open_media_store(settings, runtime.clock, stack)
        dependencies = _dependencies(settings, runtime, image_processor, media)
        await check_pin_key(runtime.database, dependencies.pins)
        yield dependencies


def _dependencies(
    settings: Settings, runtime: Runtime, image_processor: ImageProcessor, media: MediaStore
) -> Dependencies:
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
        pins=_pin_issuer(settings),
        image_processor=image_processor,
        media=media,
        media_url=(settings.media_url or f"{settings.base_url}/media").rstrip("/"),
    )


def _pin_issuer(settings: Settings) -> PinIssuer:
    """PINs at rest open for this service alone, PINs on their way for notifications."""
    pin_keys = (settings.pin_key, settings.pin_key_previous)
    delivery_keys = (settings.pin_delivery_key, settings.pin_delivery_key_previous)
    shared = (settings.sealing_key, settings.sealing_key_previous)
    # While processes of the release before may run, they must read what is written here.
    writes_old_format = bool(settings.sealing_key)
    return PinIssuer(
        key=PinKey(*pin_keys),
        kept=Encryptor(
            "orders: delivery PINs",
            *pin_keys,
            counted_as="pin-key",
            old_keys=pin_keys,
            writes_old_format=writes_old_format,
        ),
        sent=Encryptor(PIN_DELIVERY, *delivery_keys, old_keys=shared, writes_old_format=writes_old_format),
        length=settings.delivery_pin_length,
    )


async def re_encrypt_command(dependencies: Dependencies, option: str = "") -> None:
    """`python -m orders re-encrypt [--count]`."""
    pins = dependencies.pins
    issued = EncryptedMessages((DeliveryPinIssued.TYPE,), pins.sent)
    await reencrypt_by_command(dependencies.database, [encrypted_pins(pins.kept, pins.renew)], [issued], option)


def loops(dependencies: Dependencies) -> list[Loop]:
    """The timers of orders, and the pictures that leave."""
    return [
        Loop("timers", lambda: fire_timers_once(dependencies), TIMERS_EVERY_SECONDS),
        Loop(
            "pictures that leave",
            lambda: remove_images_once(dependencies.database, dependencies.media, MEDIA, dependencies.clock),
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
    commands={"demo-data": load_demo_data, REENCRYPT: re_encrypt_command},
)
