"""Composition root: settings to dependencies, and the service as a value."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta

from common.database.hash_keys import ensure_hash_key, hash_key_rows
from common.database.reencryption import COMMAND as REENCRYPT
from common.database.reencryption import EncryptedMessages, reencrypt_by_command
from common.database.retention import Rule
from common.documents.rendering import DocumentRenderer
from common.media.cleanup import EVERY_SECONDS as IMAGES_EVERY_SECONDS
from common.media.cleanup import remove_images_once
from common.media.images import ImageProcessor
from common.media.storage import open_media_store
from common.primitives.cursors import CursorSigner
from common.primitives.encryption import Encryptor
from common.process.loops import Loop
from common.process.runtime import Runtime, Service
from contracts.orders import PIN_DELIVERY, DeliveryPinIssued
from orders.consumers import SUBSCRIPTIONS
from orders.demo import load_demo_data
from orders.dependencies import Dependencies
from orders.domain.buyer_addresses import AddressHashes
from orders.domain.orders import Windows
from orders.domain.pins import PinKey
from orders.domain.unpaid_limits import UnpaidLimits
from orders.queries.own_actions import OWN_ACTIONS
from orders.queries.pending_work import PENDING_WORK
from orders.queries.personal_records import SECTIONS
from orders.settings import Settings
from orders.store import retention
from orders.store.contacts import ContactEncryption, encrypted_contacts
from orders.store.images import MEDIA
from orders.store.pins import encrypted_pins
from orders.store.receipts import ReceiptStore
from orders.timers import (
    SAVED_CHANGES_EVERY_SECONDS,
    SAVED_CHANGES_IDLE_SECONDS,
    TIMERS_EVERY_SECONDS,
    TIMERS_IDLE_SECONDS,
    fire_timers_once,
    publish_saved_product_changes_once,
)
from orders.use_cases.delivery.issue_delivery_pin import PinIssuer


@asynccontextmanager
async def compose(settings: Settings, runtime: Runtime) -> AsyncIterator[Dependencies]:
    """Open the dependencies. The runtime owns the connections; this closes the image processor, the document
    renderer and the media store.
    """
    async with AsyncExitStack() as stack:
        image_processor = ImageProcessor()
        stack.callback(image_processor.close)
        documents = DocumentRenderer()
        stack.callback(documents.close)
        media = await open_media_store(settings, stack)
        hash_key = await ensure_hash_key(runtime.database, _hash_key(settings), "orders", of_release_before=None)
        contacts = _contact_encryption(settings)
        dependencies = Dependencies(
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
            unpaid_limits=UnpaidLimits(settings.unpaid_orders_max, settings.unpaid_share_max_percent),
            balance_refunds_enabled=settings.balance_refunds_enabled,
            cells=settings.all_cells,
            address_hashes=AddressHashes(hash_key),
            contacts=contacts,
            pins=_pin_issuer(settings),
            receipts=ReceiptStore(contacts),
            documents=documents,
            image_processor=image_processor,
            media=media,
            media_url=(settings.media_url or f"{settings.base_url}/media").rstrip("/"),
        )
        yield dependencies


def _pin_issuer(settings: Settings) -> PinIssuer:
    pin_keys = (settings.pin_key, settings.pin_key_previous)
    delivery_keys = (settings.pin_delivery_key, settings.pin_delivery_key_previous)
    shared_keys = (settings.sealing_key, settings.sealing_key_previous)
    # Processes of the previous release may still run and must read new texts.
    writes_old_format = bool(settings.sealing_key)
    return PinIssuer(
        key=PinKey(*pin_keys),
        storage=Encryptor(
            "orders: delivery PINs",
            *pin_keys,
            counted_as="pin-key",
            old_keys=pin_keys,
            writes_old_format=writes_old_format,
        ),
        transport=Encryptor(PIN_DELIVERY, *delivery_keys, old_keys=shared_keys, writes_old_format=writes_old_format),
        length=settings.delivery_pin_length,
    )


def _contact_encryption(settings: Settings) -> ContactEncryption:
    pin_keys = (settings.pin_key, settings.pin_key_previous)
    return ContactEncryption(Encryptor("orders: contacts", *pin_keys, counted_as="pin-key"))


def _hash_key(settings: Settings) -> Encryptor:
    """Load the key of the keyed hashes, which is stored encrypted; a rotation of `PIN_KEY` encrypts it again and
    changes no hash. A process with another `PIN_KEY` cannot decrypt it and does not start: it would count each correct
    PIN as a wrong attempt.
    """
    return Encryptor("orders: hash key", settings.pin_key, settings.pin_key_previous, counted_as="pin-key")


async def re_encrypt_command(dependencies: Dependencies, option: str = "") -> None:
    """`python -m orders re-encrypt [--count]`."""
    pins = dependencies.pins
    issued = EncryptedMessages((DeliveryPinIssued.TYPE,), pins.transport)
    rows = [
        encrypted_pins(pins.storage, pins.renew),
        encrypted_contacts(dependencies.contacts),
        dependencies.receipts.encrypted_names(),
        hash_key_rows(_hash_key(dependencies.settings)),
    ]
    await reencrypt_by_command(dependencies.database, rows, [issued], option)


def loops(dependencies: Dependencies) -> list[Loop]:
    """Return the timers of orders, the notices of savers, and the cleanup of unreferenced images."""
    return [
        Loop("fire-timers", lambda: fire_timers_once(dependencies), TIMERS_EVERY_SECONDS, TIMERS_IDLE_SECONDS),
        Loop(
            "publish-saved-product-changes",
            lambda: publish_saved_product_changes_once(dependencies),
            SAVED_CHANGES_EVERY_SECONDS,
            SAVED_CHANGES_IDLE_SECONDS,
        ),
        Loop(
            "remove-images",
            lambda: remove_images_once(dependencies.database, dependencies.media, MEDIA, dependencies.clock),
            IMAGES_EVERY_SECONDS,
        ),
    ]


def retention_rules(dependencies: Dependencies) -> Sequence[Rule]:
    """Return the retention of rows that are not kept for ever."""
    return retention.retention_rules(timedelta(days=dependencies.settings.delivery_pins_keep_days))


SERVICE = Service(
    name="orders",
    settings=Settings,
    compose=compose,
    routes="orders.routes",
    personal_records=SECTIONS,
    pending_work=PENDING_WORK,
    own_actions=OWN_ACTIONS,
    stoppable="checkout",
    subscriptions=SUBSCRIPTIONS,
    lock_by=("order_id",),
    loops=loops,
    retention_rules=retention_rules,
    commands={"demo-data": load_demo_data, REENCRYPT: re_encrypt_command},
)
