"""The providers of this deployment, by channel, as the settings choose them."""

from collections.abc import Mapping
from dataclasses import dataclass

import httpx

from common.clock import Clock
from notifications.clients.mail import Mail
from notifications.clients.messaging import Messaging
from notifications.clients.native_push import NativePush
from notifications.clients.sms import SHAPES
from notifications.clients.web_push import WebPush
from notifications.domain.push_addresses import origin_of
from notifications.settings import Settings
from notifications.use_cases.send_delivery import Carrier

SMS: str = "sms-http"
SMS_FALLBACK: str = "sms-http-fallback"


@dataclass(frozen=True, slots=True)
class Carriers:
    """`vapid_key` is what browsers subscribe with; None when there is no push to browsers."""

    by_channel: Mapping[str, tuple[Carrier, ...]]
    mail: Mail
    vapid_key: str | None

    async def close(self) -> None:
        """Gives back what is kept open beside the HTTP client."""
        await self.mail.close()


def compose_carriers(settings: Settings, http: httpx.AsyncClient, clock: Clock) -> Carriers:
    """The providers whose address and keys are set."""
    mail = Mail(settings.smtp_url, settings.mail_from)
    carriers: dict[str, tuple[Carrier, ...]] = {"sms": _sms(settings, http), "email": (mail,)}
    if settings.messaging_api_url:
        carriers["messaging"] = (
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
        trusted = origin_of(settings.push_api_url)
        web = WebPush(http, clock, settings.vapid_private_key, settings.vapid_subject, trusted)
        carriers["push:web"] = (web,)
    if settings.fcm_service_account:
        account = settings.fcm_service_account
        native = NativePush(http, settings.push_api_url, settings.fcm_project, account, settings.fcm_token_url)
        carriers["push:native"] = (native,)
    return Carriers(carriers, mail, web.public_key if web else None)


def _sms(settings: Settings, http: httpx.AsyncClient) -> tuple[Carrier, ...]:
    shape = SHAPES[settings.sms_shape]
    first = shape(http, settings.sms_api_url, settings.sms_api_key, settings.sms_sender, SMS)
    if not settings.sms_fallback_api_url:
        return (first,)
    other = SHAPES[settings.sms_fallback_shape]
    key = settings.sms_fallback_api_key
    return (first, other(http, settings.sms_fallback_api_url, key, settings.sms_sender, SMS_FALLBACK))
