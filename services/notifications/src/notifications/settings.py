"""What the notifications service is told, beyond what every service is told."""

from typing import Literal, Self

from pydantic import Field, model_validator

from common.media.storage import MediaSettings
from common.primitives.encryption import FurtherKey, PurposeKey
from notifications.domain.alerts import PAGERDUTY_PATH


class Settings(MediaSettings):
    """Providers and keys. The default of an API key is a word that every real company refuses, aloud, with 401.

    A channel without its address or key has no provider: `messaging`, `push` for browsers, `push` for apps.
    """

    message_key: PurposeKey = Field(
        description="Encrypts secrets of messages, telephone numbers of tickets and the hash key at rest"
    )
    message_key_previous: FurtherKey = ""
    code_delivery_key: PurposeKey = Field(description="Opens the one-time codes of identity, which has the same value")
    code_delivery_key_previous: FurtherKey = ""
    pin_delivery_key: PurposeKey = Field(description="Opens the delivery PINs of orders, which has the same value")
    pin_delivery_key_previous: FurtherKey = ""
    sealing_key: FurtherKey = Field(
        default="",
        description="The key that all services shared before each purpose had its own; empty after its rotation",
    )
    sealing_key_previous: FurtherKey = ""
    sms_api_url: str = Field(pattern="^https?://")
    sms_api_key: str = Field(default="not-set", min_length=1)
    sms_sender: str = Field(default="Campus", min_length=3, max_length=11)
    sms_shape: Literal["termii", "africas_talking"] = "termii"
    sms_fallback_api_url: str = Field(default="", pattern="^(https?://.*)?$")
    sms_fallback_api_key: str = Field(default="not-set", min_length=1)
    sms_fallback_shape: Literal["termii", "africas_talking"] = "africas_talking"
    sms_receipt_key: str = Field(default="", description="Signs or accompanies receipts; empty: every receipt is 401")
    messaging_api_url: str = Field(default="", pattern="^(https?://.*)?$")
    messaging_api_version: str = Field(default="v21.0", pattern="^v[0-9]+\\.[0-9]+$")
    messaging_phone_number_id: str = Field(default="106540352242922", pattern="^[0-9]+$")
    messaging_api_token: str = Field(default="not-set", min_length=1)
    messaging_verify_token: str = Field(default="", description="Of the webhook's handshake; empty: every one is 403")
    messaging_app_secret: str = Field(default="", description="Signs the webhooks; empty: every one is 401")
    messaging_language: str = Field(default="en", pattern="^[a-z]{2,3}(_[A-Z]{2})?$")
    push_api_url: str = Field(default="https://fcm.googleapis.com", pattern="^https?://")
    fcm_project: str = Field(default="", pattern="^[a-z0-9-]*$")
    fcm_service_account: str = Field(default="", description="The service account's JSON; empty: no push to apps")
    fcm_token_url: str = Field(default="", pattern="^(https?://.*)?$")
    vapid_private_key: str = Field(default="", description="32 bytes in base64url; empty: no push to browsers")
    vapid_subject: str = Field(default="mailto:push@campus.example", pattern="^(mailto:|https://).+")
    devices_max: int = Field(default=20, ge=1, le=100)
    deliveries_at_once: int = Field(
        default=12, ge=1, le=50, description="Messages of one channel in hand in one worker"
    )
    feed_streams_max: int = Field(default=5, ge=1, description="Open streams of one person in one process")
    feed_ping_seconds: float = Field(default=15, gt=0, le=25)
    feed_poll_seconds: float = Field(default=5, gt=0)
    pin_receipt_seconds: float = Field(default=90, gt=0)
    provider_failures_max: int = Field(default=5, ge=1)
    provider_window_seconds: float = Field(default=60, gt=0)
    provider_rest_seconds: float = Field(default=15, gt=0)
    smtp_url: str = Field(pattern="^smtp(s|\\+starttls)?://")
    mail_from: str = Field(default="Campus Marketplace <no-reply@campus.example>", min_length=3)
    orders_url: str = Field(
        default="",
        pattern="^(https?://.*)?$",
        description="Where the assistant reads catalog and orders; empty: through the gateway, at BASE_URL",
    )
    ai_base_url: str = Field(
        default="",
        pattern="^(https?://.*)?$",
        description="An OpenAI-compatible endpoint, asked at `/chat/completions` below it; empty: the built-in assistant",
    )
    ai_api_key: str = ""
    ai_model: str = Field(default="gpt-4o-mini", min_length=1)
    ai_max_tokens: int = Field(default=800, ge=16, le=4096)
    ai_silence_seconds: float = Field(default=20, gt=0)
    ai_answer_seconds: float = Field(default=60, gt=0, le=70, description="A whole reply, with everything looked up")
    ai_history_characters: int = Field(default=12_000, ge=0, description="What the model is shown of a conversation")
    assistant_at_once_max: int = Field(default=3, ge=1, description="Messages of one person that are answered at once")
    assistant_ping_seconds: float = Field(default=15, gt=0, le=25)
    assistant_keep_days: int = Field(
        default=90, ge=1, description="Conversations in which nothing was said are removed"
    )
    webhooks_keep_days: int = Field(
        default=90, ge=7, description="Webhooks of the messaging app that are done with; longer than it sends again"
    )
    deliveries_keep_days: int = Field(
        default=180, ge=31, description="What was sent to whom, and each attempt; whole months leave"
    )
    notifications_keep_days: int = Field(
        default=365, description="What stands in a feed; two months longer than DELIVERIES_KEEP_DAYS or more"
    )
    alerts_keep_days: int = Field(default=365, ge=1, description="Alerts, after they were closed")
    on_call_url: str = Field(default="", pattern="^(https?://.*)?$")
    on_call_key: str = ""

    @model_validator(mode="after")
    def check_retention_periods(self) -> Self:
        """Deliveries leave by whole months, and their notifications after them."""
        if self.notifications_keep_days < self.deliveries_keep_days + 62:
            raise ValueError("NOTIFICATIONS_KEEP_DAYS must be at least DELIVERIES_KEEP_DAYS + 62")
        return self

    @model_validator(mode="after")
    def check_on_call_key(self) -> Self:
        """PagerDuty takes an event only with the routing key of the service that is on call."""
        if self.on_call_url.rstrip("/").endswith(PAGERDUTY_PATH) and not self.on_call_key:
            raise ValueError("ON_CALL_KEY (the routing key) is needed when ON_CALL_URL is PagerDuty's")
        return self
