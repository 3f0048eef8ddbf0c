"""The dependencies of routes, consumers and timers."""

from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

from common.database.unit_of_work import Database
from common.media.images import ImageProcessor
from common.media.storage import MediaStore
from common.primitives.clock import Clock
from common.primitives.cursors import CursorSigner
from common.primitives.encryption import Encryptor
from notifications.assistant.routes.tool_server import ToolServer
from notifications.assistant.use_cases.run_turn import Assistant
from notifications.clients.outbound_addresses import OutboundRules
from notifications.deliveries.clients.delivery_sender import DeliverySender
from notifications.deliveries.clients.on_call import OnCall
from notifications.deliveries.domain.receipt_signatures import ReceiptKeys
from notifications.deliveries.streams.delivery_dispatcher import DeliveryDispatcher
from notifications.deliveries.streams.feed_streams import FeedStreams
from notifications.deliveries.use_cases.deliveries.record_deliveries import DeliveryContext
from notifications.deliveries.use_cases.devices.register_device import PushSettings
from notifications.support.use_cases.tickets.record_customer_message import PhoneHasher
from notifications.webhooks.streams import WebhookSender


@dataclass(frozen=True, slots=True)
class Encryption:
    """`messages` also decrypts codes of identity and PINs of orders, which are stored as they were received."""

    messages: Encryptor
    hash_key: Encryptor
    webhook_secrets: Encryptor


class RetentionPeriods(NamedTuple):
    """Retention by table: messaging webhooks since arrival, deliveries with their attempts, the feed, alerts since they
    were closed, conversations since their last message, and dead letters without replay or closure since their failure.
    """

    webhooks: timedelta
    deliveries: timedelta
    notifications: timedelta
    alerts: timedelta
    conversations: timedelta
    dead_letters: timedelta


@dataclass(frozen=True, slots=True)
class Dependencies:
    """Opened by the composition root; one for each process."""

    clock: Clock
    is_production: bool
    database: Database
    cursors: CursorSigner
    delivery_sender: DeliverySender
    on_call: OnCall
    push_settings: PushSettings
    receipt_keys: ReceiptKeys
    messaging_verify_token: str
    messaging_app_secret: str
    phone_hasher: PhoneHasher
    encryption: Encryption
    media: MediaStore
    image_processor: ImageProcessor
    pin_receipt: timedelta
    feed_streams: FeedStreams
    dispatcher: DeliveryDispatcher
    webhook_rules: OutboundRules
    webhook_sender: WebhookSender
    assistant: Assistant
    tool_server: ToolServer
    retention_periods: RetentionPeriods

    def delivery_context(self) -> DeliveryContext:
        """Return the context of deliveries as of now."""
        sender = self.delivery_sender
        return DeliveryContext(
            sender.channels,
            sender.renderer,
            self.clock.now(),
            self.dispatcher,
            sender.device_kinds,
            self.pin_receipt,
        )
