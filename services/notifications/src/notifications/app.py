"""Composition root of the notifications service."""

import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final

import httpx

from common.auth.caller import THE_SERVICE
from common.database.hash_keys import ensure_hash_key, hash_key_rows
from common.database.reencryption import COMMAND as REENCRYPT
from common.database.reencryption import EncryptedMessages, EncryptedRows, reencrypt_by_command
from common.database.retention import Rule
from common.database.unit_of_work import Database
from common.media.cleanup import EVERY_SECONDS as IMAGES_EVERY_SECONDS
from common.media.cleanup import remove_images_once
from common.media.images import ImageProcessor
from common.media.storage import open_media_store
from common.messaging.dead_letters import CLOSE_EXPIRED_EVERY_SECONDS
from common.observability.logging import get_logger
from common.primitives.clock import Clock
from common.primitives.cursors import CursorSigner
from common.primitives.encryption import Encryptor
from common.process.loops import Loop
from common.process.runtime import Runtime, Service
from common.web.provider_client import provider_client
from notifications.assistant import queries as assistant_queries
from notifications.assistant import store as assistant_store
from notifications.assistant.app import open_assistant
from notifications.assistant.routes.tool_server import open_tool_server
from notifications.clients.circuit_breaker import CircuitLimits, Circuits
from notifications.clients.outbound import OutboundClient
from notifications.clients.outbound_addresses import OutboundRules, origin_of
from notifications.consumers import SUBSCRIPTIONS, WORK
from notifications.deliveries.clients.delivery_sender import ChannelProvider, DeliverySender
from notifications.deliveries.clients.mail import CONNECTIONS_MAX, Mail
from notifications.deliveries.clients.messaging import Messaging
from notifications.deliveries.clients.native_push import NativePush
from notifications.deliveries.clients.on_call import OnCall
from notifications.deliveries.clients.requested_events import RequestedEvents
from notifications.deliveries.clients.sms import SMS_CLIENTS, SmsAccount
from notifications.deliveries.clients.web_push import WebPush
from notifications.deliveries.consumers import encrypted_events
from notifications.deliveries.domain.channels import CHANNELS
from notifications.deliveries.domain.deliveries import PROVIDER_SECONDS_MAX
from notifications.deliveries.domain.receipt_signatures import ReceiptKeys
from notifications.deliveries.domain.telephone_numbers import hash_key_of_release_before
from notifications.deliveries.queries import pending_work as deliveries_pending_work
from notifications.deliveries.queries import personal_records as deliveries_records
from notifications.deliveries.queries.own_actions import OWN_ACTIONS
from notifications.deliveries.routes.receipts import TWILIO_RECEIPTS
from notifications.deliveries.routes.unsubscribe import PATH as UNSUBSCRIBE
from notifications.deliveries.store import encrypted_values as deliveries_encrypted
from notifications.deliveries.store import retention as deliveries_retention
from notifications.deliveries.store.unsubscribe_links import UnsubscribeLinks
from notifications.deliveries.streams.delivery_dispatcher import POLL_SECONDS, DeliveryDispatcher
from notifications.deliveries.streams.feed_streams import FeedStreams
from notifications.deliveries.templates.registration import TemplateAccount
from notifications.deliveries.templates.renderer import MessageRenderer
from notifications.deliveries.timers import (
    OPEN_ALERTS_EVERY_SECONDS,
    PINS_EVERY_SECONDS,
    PINS_IDLE_SECONDS,
    SWEEP_EVERY_SECONDS,
    advance_pins_once,
    close_removed_once,
    escalate_alerts_once,
    repeat_open_alerts_once,
    resolve_abandoned_once,
)
from notifications.deliveries.use_cases.deliveries.resume_provider import resume_provider
from notifications.deliveries.use_cases.devices.register_device import PushSettings
from notifications.dependencies import Dependencies, Encryption, RetentionPeriods
from notifications.settings import Settings
from notifications.support.domain.attachments import FOLDER as IMAGE_FOLDER
from notifications.support.domain.cart_replies import cart_links
from notifications.support.queries import pending_work as support_pending_work
from notifications.support.queries import personal_records as support_records
from notifications.support.queries.tickets import find_free_text
from notifications.support.store import encrypted_values as support_encrypted
from notifications.support.store import retention as support_retention
from notifications.support.store.tickets import MEDIA
from notifications.support.timers import close_expired_webhooks_once
from notifications.support.use_cases.tickets.check_message_key import check_message_key
from notifications.support.use_cases.tickets.record_customer_message import PhoneHasher
from notifications.webhooks import queries as webhooks_queries
from notifications.webhooks import store as webhooks_store
from notifications.webhooks.clients import WebhookClient
from notifications.webhooks.domain.webhooks import ATTEMPT_SECONDS_MAX
from notifications.webhooks.streams import POLL_SECONDS as WEBHOOKS_POLL_SECONDS
from notifications.webhooks.streams import WebhookSender

log: Final = get_logger(__name__)


SMS: Final = "sms-http"
SMS_FALLBACK: Final = "sms-http-fallback"


@dataclass(frozen=True, slots=True)
class ChannelProviders:
    """`vapid_key` is the public key of browser subscriptions; None without web push."""

    by_channel: Mapping[str, tuple[ChannelProvider, ...]]
    mail: Mail
    vapid_key: str | None

    async def close(self) -> None:
        """Close the connections of the clients, without the HTTP client."""
        await self.mail.close()


def compose_channel_providers(
    settings: Settings, http: httpx.AsyncClient, outbound: OutboundClient, clock: Clock
) -> ChannelProviders:
    """Create the configured providers."""
    mail = Mail(settings.smtp_url, settings.mail_from, allows_plaintext=settings.smtp_plaintext)
    providers: dict[str, tuple[ChannelProvider, ...]] = {"sms": _sms(settings, http), "email": (mail,)}
    if settings.messaging_api_url:
        providers["messaging"] = (
            Messaging(
                http,
                settings.messaging_api_url,
                settings.messaging_api_version,
                settings.messaging_phone_number_id,
                settings.messaging_api_token,
                settings.messaging_language,
            ),
        )
    web = None
    if settings.vapid_private_key:
        web = WebPush(outbound, clock, settings.vapid_private_key, settings.vapid_subject)
        providers["push:web"] = (web,)
    if settings.fcm_service_account:
        account = settings.fcm_service_account
        native = NativePush(http, settings.push_api_url, settings.fcm_project, account, settings.fcm_token_url)
        providers["push:native"] = (native,)
    return ChannelProviders(providers, mail, web.public_key if web else None)


def _sms(settings: Settings, http: httpx.AsyncClient) -> tuple[ChannelProvider, ...]:
    return tuple(SMS_CLIENTS[shape](http, account) for shape, account in sms_accounts(settings))


def sms_accounts(settings: Settings) -> list[tuple[str, SmsAccount]]:
    """Return the accounts at SMS companies with their API formats, in the order of their use."""
    routes = (settings.sms_route, settings.sms_secret_route, f"{settings.base_url}{TWILIO_RECEIPTS}")
    first = SmsAccount(SMS, settings.sms_api_url, settings.sms_api_key, settings.sms_sender, *routes)
    if not settings.sms_fallback_api_url:
        return [(settings.sms_shape, first)]
    sender = settings.sms_fallback_sender or settings.sms_sender
    second = SmsAccount(SMS_FALLBACK, settings.sms_fallback_api_url, settings.sms_fallback_api_key, sender, *routes)
    return [(settings.sms_shape, first), (settings.sms_fallback_shape, second)]


def _receipt_keys(settings: Settings) -> ReceiptKeys:
    accounts = [account for shape, account in sms_accounts(settings) if shape == "twilio"]
    tokens = tuple(account.api_key for account in accounts if account.api_key != "not-set")
    return ReceiptKeys(settings.sms_receipt_key, f"{settings.base_url}{TWILIO_RECEIPTS}", tokens)


def read_template_account() -> TemplateAccount:
    """Read the settings of the messaging app's approved templates."""
    settings = Settings.from_environment()
    return TemplateAccount(
        settings.messaging_api_url,
        settings.messaging_api_version,
        settings.messaging_business_account_id,
        settings.messaging_api_token,
        settings.messaging_language,
    )


@asynccontextmanager
async def compose(settings: Settings, runtime: Runtime) -> AsyncIterator[Dependencies]:
    """Open the providers, keys and streams of a process."""
    runtime.database.is_published = RequestedEvents(settings.subscribers_file, runtime.clock).is_published
    async with (
        provider_client(timeout=PROVIDER_SECONDS_MAX) as http,
        OutboundClient(push_rules := _push_rules(settings), seconds=PROVIDER_SECONDS_MAX) as outbound,
        OutboundClient(webhook_rules := _webhook_rules(settings), seconds=ATTEMPT_SECONDS_MAX) as webhook_http,
        open_assistant(settings, runtime, _circuit_limits(settings), PROVIDER_SECONDS_MAX) as assistant,
        AsyncExitStack() as stack,
    ):
        if not settings.messaging_app_secret:
            log.critical("MESSAGING_APP_SECRET is empty: every messaging webhook gets 401; set it")
        image_processor = ImageProcessor()
        stack.callback(image_processor.close)
        providers = compose_channel_providers(settings, http, outbound, runtime.clock)
        encryption = encryption_of(settings)
        await check_message_key(runtime.database, encryption.messages)
        delivery_sender = DeliverySender(
            runtime.database,
            runtime.clock,
            providers.by_channel,
            MessageRenderer(settings.storefront_url, settings.console_url),
            encryption.messages,
            Circuits(runtime.clock, _circuit_limits(settings)),
            reports_statuses=bool(settings.messaging_app_secret),
            unsubscribe_links=_unsubscribe_links(settings),
            ladder=settings.ladder,
            find_free_text=partial(find_free_text, cart_links(settings.storefront_url, settings.base_url)),
        )
        streams = _feed_streams(settings, runtime)
        webhook_sender = WebhookSender(
            runtime.database, runtime.clock, WebhookClient(webhook_http), encryption.webhook_secrets
        )
        yield Dependencies(
            clock=runtime.clock,
            is_production=settings.environment == "production",
            database=runtime.database,
            cursors=CursorSigner(settings.cursor_key),
            delivery_sender=delivery_sender,
            on_call=OnCall(http, settings.on_call_url, settings.on_call_key),
            push_settings=PushSettings(providers.vapid_key, push_rules, settings.devices_max),
            receipt_keys=_receipt_keys(settings),
            messaging_verify_token=settings.messaging_verify_token,
            messaging_app_secret=settings.messaging_app_secret,
            phone_hasher=PhoneHasher(await _hash_key(settings, runtime.database, encryption)),
            encryption=encryption,
            media=await open_media_store(settings, stack, under=IMAGE_FOLDER),
            image_processor=image_processor,
            pin_receipt=timedelta(seconds=settings.pin_receipt_seconds),
            feed_streams=streams,
            dispatcher=DeliveryDispatcher(delivery_sender, _limits(settings)),
            webhook_rules=webhook_rules,
            webhook_sender=webhook_sender,
            assistant=assistant,
            tool_server=await stack.enter_async_context(open_tool_server(assistant.marketplace, settings.base_url)),
            retention_periods=_retention_periods(settings),
        )
        await streams.close()
        await providers.close()


def _limits(settings: Settings) -> Mapping[str, int]:
    """Return a claimed mail that waits for a connection would have an unknown outcome after a crash."""
    at_once = settings.deliveries_at_once
    return {channel: min(at_once, CONNECTIONS_MAX) if channel == "email" else at_once for channel in CHANNELS}


def _unsubscribe_links(settings: Settings) -> UnsubscribeLinks:
    keys = (settings.message_key, settings.message_key_previous)
    return UnsubscribeLinks(Encryptor("notifications: unsubscribe links", *keys), f"{settings.base_url}{UNSUBSCRIBE}")


def _push_rules(settings: Settings) -> OutboundRules:
    """Subscriptions name their push service. PUSH_API_URL is trusted even on a private address, as the sandbox
    needs.
    """
    return OutboundRules(trusted_origin=origin_of(settings.push_api_url))


def _webhook_rules(settings: Settings) -> OutboundRules:
    return OutboundRules(allow_loopback=settings.webhook_allow_loopback, allow_high_ports=True)


def encryption_of(settings: Settings) -> Encryption:
    """Create an encryptor for each purpose.

    While SEALING_KEY is set, values are written in the format of the previous release.
    """
    shared = (settings.sealing_key, settings.sealing_key_previous)

    def encryptor_for(purpose: str, current: str, previous: str, *also: Encryptor) -> Encryptor:
        return Encryptor(
            purpose, current, previous, old_keys=shared, writes_old_format=bool(settings.sealing_key), also=also
        )

    codes = encryptor_for(
        encrypted_events.CODE_DELIVERY, settings.code_delivery_key, settings.code_delivery_key_previous
    )
    pins = encryptor_for(encrypted_events.PIN_DELIVERY, settings.pin_delivery_key, settings.pin_delivery_key_previous)
    at_rest = (settings.message_key, settings.message_key_previous)
    # Codes and PINs are stored with their messages as received.
    messages = encryptor_for("notifications: secrets of messages", *at_rest, codes, pins)
    # Webhooks are younger than the shared key.
    webhook_secrets = Encryptor("notifications: secrets of webhooks", *at_rest)
    return Encryption(messages, encryptor_for("notifications: hash key", *at_rest), webhook_secrets)


async def _hash_key(settings: Settings, database: Database, encryption: Encryption) -> bytes:
    shared = (settings.sealing_key, settings.sealing_key_previous)
    previous_key = next((hash_key_of_release_before(key) for key in shared if key), None)
    return await ensure_hash_key(database, encryption.hash_key, "notifications", of_release_before=previous_key)


async def re_encrypt_command(dependencies: Dependencies, option: str = "") -> None:
    """`python -m notifications re-encrypt [--count]`."""
    encryption = dependencies.encryption
    received = EncryptedMessages(encrypted_events.TYPES, encryption.messages)
    await reencrypt_by_command(dependencies.database, encrypted_rows(encryption), [received], option)


async def resume_provider_command(dependencies: Dependencies, provider: str) -> None:
    """`python -m notifications resume-provider PROVIDER`: its messages are sent again, before the next probe."""
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        is_resumed = await resume_provider(uow, provider, dependencies.clock.now())
    sys.stdout.write(f"{provider} {'is resumed' if is_resumed else 'was not paused'}\n")


def _feed_streams(settings: Settings, runtime: Runtime) -> FeedStreams:
    """Open the streams of this process, subscribed to the broadcasts of all processes."""
    streams = FeedStreams(
        runtime.database,
        runtime.clock,
        runtime.verifier.revocations.cover,
        per_user_max=settings.feed_streams_max,
        ping_seconds=settings.feed_ping_seconds,
        poll_seconds=settings.feed_poll_seconds,
    )
    streams.subscribe(runtime)
    return streams


def _retention_periods(settings: Settings) -> RetentionPeriods:
    return RetentionPeriods(
        webhooks=timedelta(days=settings.webhooks_keep_days),
        deliveries=timedelta(days=settings.deliveries_keep_days),
        notifications=timedelta(days=settings.notifications_keep_days),
        alerts=timedelta(days=settings.alerts_keep_days),
        conversations=timedelta(days=settings.assistant_keep_days),
        dead_letters=timedelta(days=settings.unresolved_dead_letters_keep_days),
    )


def retention_rules(periods: RetentionPeriods) -> tuple[Rule, ...]:
    return (
        *support_retention.retention_rules(periods.webhooks),
        *deliveries_retention.retention_rules(periods.deliveries, periods.notifications, periods.alerts),
        *assistant_store.retention_rules(periods.conversations),
        *webhooks_store.retention_rules(),
    )


def encrypted_rows(encryption: Encryption) -> list[EncryptedRows]:
    return [
        deliveries_encrypted.encrypted_rows(encryption.messages),
        support_encrypted.encrypted_rows(encryption.messages),
        webhooks_store.encrypted_rows(encryption.webhook_secrets),
        hash_key_rows(encryption.hash_key),
    ]


def _circuit_limits(settings: Settings) -> CircuitLimits:
    return CircuitLimits(
        settings.provider_failures_max,
        timedelta(seconds=settings.provider_window_seconds),
        timedelta(seconds=settings.provider_rest_seconds),
    )


def loops(dependencies: Dependencies) -> Sequence[Loop]:
    return [
        Loop("send-deliveries", dependencies.dispatcher.run, POLL_SECONDS),
        Loop("send-webhooks", dependencies.webhook_sender.run, WEBHOOKS_POLL_SECONDS),
        Loop("repeat-open-alerts", lambda: repeat_open_alerts_once(dependencies), OPEN_ALERTS_EVERY_SECONDS),
        Loop("escalate-alerts", lambda: escalate_alerts_once(dependencies), OPEN_ALERTS_EVERY_SECONDS),
        Loop("close-alerts-of-removed-messages", lambda: close_removed_once(dependencies), CLOSE_EXPIRED_EVERY_SECONDS),
        Loop("close-expired-webhooks", lambda: close_expired_webhooks_once(dependencies), CLOSE_EXPIRED_EVERY_SECONDS),
        Loop("forward-pins", lambda: advance_pins_once(dependencies), PINS_EVERY_SECONDS, PINS_IDLE_SECONDS),
        Loop("resolve-abandoned-deliveries", lambda: resolve_abandoned_once(dependencies), SWEEP_EVERY_SECONDS),
        Loop(
            "remove-images",
            lambda: remove_images_once(dependencies.database, dependencies.media, MEDIA, dependencies.clock),
            IMAGES_EVERY_SECONDS,
        ),
    ]


# The events of one step of an order arrive within this time: payment and PIN; delivery, release and completion.
LINGER_SECONDS: Final = 0.1

SERVICE: Final = Service(
    name="notifications",
    settings=Settings,
    compose=compose,
    routes="notifications.routes",
    personal_records=(
        *deliveries_records.SECTIONS,
        *support_records.SECTIONS,
        *assistant_queries.SECTIONS,
        *webhooks_queries.SECTIONS,
    ),
    pending_work=(*deliveries_pending_work.PENDING_WORK, *support_pending_work.PENDING_WORK),
    own_actions=OWN_ACTIONS,
    subscriptions=SUBSCRIPTIONS,
    work_items=WORK,
    loops=loops,
    commands={REENCRYPT: re_encrypt_command, "resume-provider": resume_provider_command},
    retention_rules=lambda dependencies: retention_rules(dependencies.retention_periods),
    linger_seconds=LINGER_SECONDS,
    lock_by=("order_id",),
)
