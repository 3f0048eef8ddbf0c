"""Settings of the notifications service.

- **Keys.** `python -m notifications re-encrypt [--count]` encrypts under the next `MESSAGE_KEY` (rotation).
- **SMS.** `termii` is called at `{url}/api/sms/send`, `africas_talking` at `{url}/version1/messaging` with its user
  name in the URL (`https://name@host`), `twilio` at `{url}/2010-04-01/Accounts/{SID}/Messages.json` with the
  account's SID in the URL and the auth token as key, which also signs its receipts.
- **Mail.** `smtp://` and `smtp+starttls://` require STARTTLS, `smtps://` is TLS; user and password are in the URL.
  `smtp://` to this machine needs no TLS, nor does any server with `SMTP_PLAINTEXT=true`, which is for test servers
  and excludes a password.
- **On call.** The path of `ON_CALL_URL` selects the format: `/api/v2/alerts` Alertmanager, `/v2/enqueue` PagerDuty
  (needs the key), any other a JSON webhook; empty: log and list only.
- **Push.** The origin of a browser's subscription is that of `PUSH_API_URL`, or is checked by the addresses of its
  name at each call (`notifications.clients.outbound`).
- **Assistant.** The provider is called at `{AI_BASE_URL}/chat/completions`. With an empty `ORDERS_URL` it reads
  through the gateway, where each call counts against the caller's quota.
- **Images of tickets** have the store of orders' images, under `support/`; api and worker share it, and the bucket
  must not be public.
"""

from pathlib import Path
from typing import Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from common.media.storage import MediaSettings
from common.primitives.encryption import FurtherKey, PurposeKey
from notifications.deliveries.domain.alerts import PAGERDUTY_PATH

# A registered name, a number, or the SID of a messaging service of Twilio.
_SMS_SENDER: Final = "^(.{3,11}|\\+[0-9]{8,15}|MG[0-9a-fA-F]{32})$"


class Settings(MediaSettings):
    """Providers, keys and limits. Providers reject the default API keys with 401.

    The messaging app and both kinds of push are off without their address or key.
    """

    message_key: PurposeKey = Field(
        description="Encrypts secrets of messages, phone numbers of tickets and the hash key at rest",
        examples=["3f1c9d0e5b7a48c2a6d4e8f01b2c3d4e5f60718293a4b5c6d7e8f9012a3b4c5d"],
    )
    message_key_previous: FurtherKey = Field(
        default="",
        description="The previous MESSAGE_KEY during a rotation; empty otherwise",
        examples=["3f1c9d0e5b7a48c2a6d4e8f01b2c3d4e5f60718293a4b5c6d7e8f9012a3b4c5d"],
    )
    code_delivery_key: PurposeKey = Field(
        description="Decrypts the one-time codes of identity, which has the same value",
        examples=["3f1c9d0e5b7a48c2a6d4e8f01b2c3d4e5f60718293a4b5c6d7e8f9012a3b4c5d"],
    )
    code_delivery_key_previous: FurtherKey = Field(
        default="",
        description="The previous CODE_DELIVERY_KEY during a rotation; empty otherwise",
        examples=["3f1c9d0e5b7a48c2a6d4e8f01b2c3d4e5f60718293a4b5c6d7e8f9012a3b4c5d"],
    )
    pin_delivery_key: PurposeKey = Field(
        description="Decrypts the delivery PINs of orders, which has the same value",
        examples=["3f1c9d0e5b7a48c2a6d4e8f01b2c3d4e5f60718293a4b5c6d7e8f9012a3b4c5d"],
    )
    pin_delivery_key_previous: FurtherKey = Field(
        default="",
        description="The previous PIN_DELIVERY_KEY during a rotation; empty otherwise",
        examples=["3f1c9d0e5b7a48c2a6d4e8f01b2c3d4e5f60718293a4b5c6d7e8f9012a3b4c5d"],
    )
    sealing_key: FurtherKey = Field(
        default="",
        description="The key that all services shared before each purpose had its own; empty after its rotation",
        examples=["3f1c9d0e5b7a48c2a6d4e8f01b2c3d4e5f60718293a4b5c6d7e8f9012a3b4c5d"],
    )
    sealing_key_previous: FurtherKey = Field(
        default="",
        description="The previous SEALING_KEY during a rotation; empty otherwise",
        examples=["3f1c9d0e5b7a48c2a6d4e8f01b2c3d4e5f60718293a4b5c6d7e8f9012a3b4c5d"],
    )
    storefront_url: str = Field(
        default="",
        pattern="^(https?://.*)?$",
        description="Origin of the storefront, for links in messages; empty: those to carts lead to the API at "
        "BASE_URL, and mails to buyers have none",
        examples=["https://campus.example"],
    )
    console_url: str = Field(
        default="",
        pattern="^(https?://.*)?$",
        description="Origin of the console, for links in mails to shops and staff; empty: they have none",
        examples=["https://console.campus.example"],
    )
    sms_api_url: str = Field(
        pattern="^https?://", description="Base URL of the SMS company", examples=["https://api.ng.termii.com"]
    )
    sms_api_key: str = Field(
        default="not-set", min_length=1, description="API key of the SMS company", examples=["TLxxxxxxxx"]
    )
    sms_sender: str = Field(
        default="Campus",
        pattern=_SMS_SENDER,
        description=(
            "Sender of text messages: a registered name of 3 to 11 characters, a number or Twilio's service SID"
        ),
        examples=["Campus"],
    )
    sms_shape: Literal["termii", "africas_talking", "twilio"] = Field(
        default="termii",
        description="API format of the SMS company: termii, africas_talking or twilio",
        examples=["termii"],
    )
    sms_route: Literal["generic", "dnd"] = Field(
        default="generic",
        description="Termii's channel of ordinary text messages: generic or dnd",
        examples=["generic"],
    )
    sms_secret_route: Literal["generic", "dnd"] = Field(
        default="dnd",
        description="Termii's channel of codes and PINs; dnd also reaches numbers with do-not-disturb",
        examples=["dnd"],
    )
    sms_fallback_api_url: str = Field(
        default="",
        pattern="^(https?://.*)?$",
        description="Base URL of the second SMS company, used when the first is unavailable; empty: none",
        examples=["https://campus@api.africastalking.com"],
    )
    sms_fallback_api_key: str = Field(
        default="not-set", min_length=1, description="API key of the second SMS company", examples=["atsk_xxxxxxxx"]
    )
    sms_fallback_shape: Literal["termii", "africas_talking", "twilio"] = Field(
        default="africas_talking",
        description="API format of the second SMS company: termii, africas_talking or twilio",
        examples=["africas_talking"],
    )
    sms_fallback_sender: str = Field(
        default="",
        pattern=f"^$|{_SMS_SENDER}",
        description="Sender of text messages at the second SMS company; empty: SMS_SENDER",
        examples=["Campus"],
    )
    sms_receipt_key: str = Field(
        default="",
        description="Key of the SMS delivery receipts of Termii and Africa's Talking; empty: each gets 401",
        examples=["a-random-receipt-key"],
    )
    messaging_api_url: str = Field(
        default="",
        pattern="^(https?://.*)?$",
        description="Base URL of the messaging app's cloud API; empty: the channel is off",
        examples=["https://graph.facebook.com"],
    )
    messaging_api_version: str = Field(
        default="v21.0",
        pattern="^v[0-9]+\\.[0-9]+$",
        description="API version of the messaging app",
        examples=["v21.0"],
    )
    messaging_phone_number_id: str = Field(
        default="106540352242922",
        pattern="^[0-9]+$",
        description="The provider's id of our business phone number",
        examples=["106540352242922"],
    )
    messaging_business_account_id: str = Field(
        default="102290129340398",
        pattern="^[0-9]+$",
        description="The provider's id of our business account, which owns the approved templates",
        examples=["102290129340398"],
    )
    messaging_api_token: str = Field(
        default="not-set", min_length=1, description="Access token of the messaging app", examples=["EAAxxxxxxxx"]
    )
    messaging_verify_token: str = Field(
        default="",
        description="Verify token of the webhook handshake; empty: every handshake gets 403",
        examples=["a-random-verify-token"],
    )
    messaging_app_secret: str = Field(
        default="",
        description="Secret that signs the messaging webhooks; empty: every webhook gets 401",
        examples=["a-random-app-secret"],
    )
    messaging_language: str = Field(
        default="en",
        pattern="^[a-z]{2,3}(_[A-Z]{2})?$",
        description="Language code of the approved templates",
        examples=["en"],
    )
    push_api_url: str = Field(
        default="https://fcm.googleapis.com",
        pattern="^https?://",
        description="Base URL of FCM HTTP v1; browser subscriptions at its origin are trusted",
        examples=["https://fcm.googleapis.com"],
    )
    fcm_project: str = Field(
        default="",
        pattern="^[a-z0-9-]*$",
        description="Firebase project id; empty: the service account's project",
        examples=["campus-prod"],
    )
    fcm_service_account: str = Field(
        default="",
        description="JSON of the Firebase service account; empty: push to apps is off",
        examples=['{"type": "service_account", ...}'],
    )
    fcm_token_url: str = Field(
        default="",
        pattern="^(https?://.*)?$",
        description="Token URL of the service account; empty: the account's own",
        examples=["https://oauth2.googleapis.com/token"],
    )
    vapid_private_key: str = Field(
        default="",
        description="VAPID private key, 32 bytes in base64url; empty: push to browsers is off",
        examples=["3KzvKasA2SoCxsp0iIG_o9B0Ozvl1XDwI63JRKNIWBM"],
    )
    vapid_subject: str = Field(
        default="mailto:push@campus.example",
        pattern="^(mailto:|https://).+",
        description="Contact address for push services, mailto: or https://",
        examples=["mailto:push@campus.example"],
    )
    devices_max: int = Field(
        default=20, ge=1, le=100, description="Registered push devices of one user", examples=["20"]
    )
    deliveries_at_once: int = Field(
        default=12, ge=1, le=50, description="Concurrent sends of one channel in one worker", examples=["12"]
    )
    feed_streams_max: int = Field(
        default=5, ge=1, description="Open feed streams of one user in one process", examples=["5"]
    )
    feed_ping_seconds: float = Field(
        default=15, gt=0, le=25, description="Seconds between pings of an idle feed stream", examples=["15"]
    )
    feed_poll_seconds: float = Field(
        default=5, gt=0, description="Seconds between polls for feed entries whose broadcast was lost", examples=["5"]
    )
    pin_receipt_seconds: float = Field(
        default=90,
        gt=0,
        description="Seconds until a PIN without a delivery receipt uses the next channel",
        examples=["90"],
    )
    provider_failures_max: int = Field(
        default=5, ge=1, description="Failures within PROVIDER_WINDOW_SECONDS that pause a provider", examples=["5"]
    )
    provider_window_seconds: float = Field(
        default=60, gt=0, description="Seconds in which the failures of a provider are counted", examples=["60"]
    )
    provider_rest_seconds: float = Field(
        default=15, gt=0, description="Seconds for which a failing provider is paused", examples=["15"]
    )
    smtp_url: str = Field(
        pattern="^smtp(s|\\+starttls)?://",
        description=(
            "URL of the mail server with credentials: smtp:// and smtp+starttls:// need STARTTLS; smtps:// is TLS"
        ),
        examples=["smtp+starttls://user:password@mail.example:587"],
    )
    smtp_plaintext: bool = Field(
        default=False,
        description="Whether smtp:// may send without encryption to another machine; for a test server only",
        examples=["false"],
    )
    mail_from: str = Field(
        default="Campus Marketplace <no-reply@campus.example>",
        min_length=3,
        description="Sender of mails, name and address",
        examples=["Campus Marketplace <no-reply@campus.example>"],
    )
    orders_url: str = Field(
        default="",
        pattern="^(https?://.*)?$",
        description="Base URL of catalog and orders for the assistant; empty: the gateway at BASE_URL",
        examples=["http://orders:8080"],
    )
    ai_base_url: str = Field(
        default="",
        pattern="^(https?://.*)?$",
        description=(
            "Base URL of an OpenAI-compatible endpoint, without `/chat/completions`; empty: the built-in assistant"
        ),
        examples=["https://api.openai.com/v1"],
    )
    ai_api_key: str = Field(
        default="", description="API key of the language model; empty: none is sent", examples=["sk-xxxxxxxx"]
    )
    ai_model: str = Field(
        default="gpt-4o-mini", min_length=1, description="Model name of the language model", examples=["gpt-4o-mini"]
    )
    ai_max_tokens: int = Field(default=800, ge=16, le=4096, description="Tokens of one reply", examples=["800"])
    ai_tokens_parameter: Literal["max_completion_tokens", "max_tokens"] = Field(
        default="max_completion_tokens",
        description="Name of the length limit in requests: max_completion_tokens, or max_tokens for older servers",
        examples=["max_completion_tokens"],
    )
    ai_silence_seconds: float = Field(
        default=20, gt=0, description="Seconds without data after which a model's response is aborted", examples=["20"]
    )
    ai_answer_seconds: float = Field(
        default=60, gt=0, le=70, description="Seconds for a whole reply, with all its lookups", examples=["60"]
    )
    ai_history_characters: int = Field(
        default=12_000, ge=0, description="Characters of a conversation that the model receives", examples=["12000"]
    )
    # Not below the quota of a minute (tier 5), which a client may use at once.
    assistant_at_once_max: int = Field(
        default=20, ge=1, description="Messages of one user in progress at once", examples=["20"]
    )
    assistant_ping_seconds: float = Field(
        default=15, gt=0, le=25, description="Seconds between pings of a streamed reply", examples=["15"]
    )
    assistant_keep_days: int = Field(
        default=90, ge=1, description="Days after its last message until a conversation is deleted", examples=["90"]
    )
    webhooks_keep_days: int = Field(
        default=90,
        ge=7,
        description="Days until processed messaging webhooks are deleted; longer than the provider's retries",
        examples=["90"],
    )
    deliveries_keep_days: int = Field(
        default=180,
        ge=31,
        description="Days until deliveries and their attempts are deleted, in whole months",
        examples=["180"],
    )
    notifications_keep_days: int = Field(
        default=365,
        description="Days until feed entries are deleted; at least DELIVERIES_KEEP_DAYS + 62",
        examples=["365"],
    )
    alerts_keep_days: int = Field(
        default=365, ge=1, description="Days until a closed alert is deleted", examples=["365"]
    )
    subscribers_file: Path | None = Field(
        default=None,
        description="The list of teams that subscribe at the broker; events on request are published for its topics",
        examples=["/etc/campus/subscribers/subscribers.yaml"],
    )
    webhook_allow_loopback: bool = Field(
        default=False,
        description="Whether webhook endpoints may have loopback addresses, also by http; for development only",
        examples=["false"],
    )
    on_call_url: str = Field(
        default="",
        pattern="^(https?://.*)?$",
        description=(
            "URL of the on-call receiver; its path selects the format; empty: alerts appear in log and list only"
        ),
        examples=["https://events.pagerduty.com/v2/enqueue"],
    )
    on_call_key: str = Field(
        default="", description="Routing key of PagerDuty; other receivers need none", examples=["a-routing-key"]
    )

    @model_validator(mode="after")
    def check_retention_periods(self) -> Self:
        """Deliveries are deleted by whole months, and their notifications after them."""
        if self.notifications_keep_days < self.deliveries_keep_days + 62:
            raise ValueError("NOTIFICATIONS_KEEP_DAYS must be at least DELIVERIES_KEEP_DAYS + 62")
        return self

    @model_validator(mode="after")
    def check_mail_credentials(self) -> Self:
        """Reject a password that would be sent without encryption."""
        mail_server = urlsplit(self.smtp_url)
        if self.smtp_plaintext and mail_server.scheme == "smtp" and mail_server.username:
            raise ValueError("SMTP_PLAINTEXT sends no password: use smtp+starttls:// or smtps://, or set it to false")
        return self

    @model_validator(mode="after")
    def check_on_call_key(self) -> Self:
        """PagerDuty requires a routing key."""
        if self.on_call_url.rstrip("/").endswith(PAGERDUTY_PATH) and not self.on_call_key:
            raise ValueError("ON_CALL_KEY (the routing key) is needed when ON_CALL_URL is PagerDuty's")
        return self
