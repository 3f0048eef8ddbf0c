"""The dependencies of routes, consumers and timers."""

from dataclasses import dataclass
from datetime import timedelta

from common.database.unit_of_work import Database
from common.media.images import ImageProcessor
from common.media.storage import MediaStore
from common.primitives.clock import Clock
from common.primitives.cursors import CursorSigner
from common.web.outbound_addresses import OutboundRules
from notifications.clients.delivery_sender import DeliverySender
from notifications.clients.on_call import OnCall
from notifications.domain.receipt_signatures import ReceiptKeys
from notifications.store.encrypted_values import Encryption
from notifications.store.retention import RetentionPeriods
from notifications.streams.delivery_dispatcher import DeliveryDispatcher
from notifications.streams.feed_streams import FeedStreams
from notifications.streams.webhook_sender import WebhookSender
from notifications.use_cases.assistant.run_turn import Assistant
from notifications.use_cases.deliveries.record_deliveries import DeliveryContext
from notifications.use_cases.devices.register_device import PushSettings
from notifications.use_cases.tickets.record_customer_message import PhoneHasher


@dataclass(frozen=True, slots=True)
class Dependencies:
    """Opened by the composition root; one for each process."""

    clock: Clock
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
