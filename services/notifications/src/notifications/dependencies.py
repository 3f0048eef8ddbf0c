"""What routes, consumers and timers work with, opened by the composition root."""

from dataclasses import dataclass
from datetime import timedelta

from common.database.unit_of_work import Database
from common.media.images import ImageProcessor
from common.media.storage import MediaStore
from common.primitives.clock import Clock
from common.primitives.cursors import CursorSigner
from notifications.clients.on_call import OnCall
from notifications.store.encrypted_values import Encryption
from notifications.store.retention import Times
from notifications.streams.concurrency_limiter import ConcurrencyLimiter
from notifications.streams.feed_streams import FeedStreams
from notifications.use_cases.assistant.answer_turn import Assistant
from notifications.use_cases.deliveries.deliver_notification import DeliveryContext
from notifications.use_cases.deliveries.send_delivery import DeliverySender
from notifications.use_cases.devices.register_device import PushSettings
from notifications.use_cases.tickets.record_customer_message import Numbers


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What routes, consumers and timers work with."""

    clock: Clock
    database: Database
    cursors: CursorSigner
    post: DeliverySender
    on_call: OnCall
    push_settings: PushSettings
    sms_receipt_key: str
    messaging_verify_token: str
    messaging_app_secret: str
    numbers: Numbers
    encryption: Encryption
    media: MediaStore
    image_processor: ImageProcessor
    pin_receipt: timedelta
    feed_streams: FeedStreams
    limiter: ConcurrencyLimiter
    assistant: Assistant
    kept_for: Times

    def delivery_context(self) -> DeliveryContext:
        """What writing a notification down needs, as of now."""
        post = self.post
        return DeliveryContext(post.channels, post.words, self.clock.now(), post.device_kinds, self.pin_receipt)
