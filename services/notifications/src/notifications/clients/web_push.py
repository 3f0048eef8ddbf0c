"""Web push: the message encrypted for one browser (RFC 8291), signed with our VAPID key (RFC 8292), sent by RFC 8030."""

from collections.abc import Mapping
from typing import Final

import httpx
import msgspec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from py_vapid import Vapid02
from py_vapid.utils import b64urlencode
from pywebpush import WebPusher

from common.primitives.clock import Clock
from common.web.outbound import AddressRefused, OutboundClient
from common.web.outbound_addresses import origin_of
from notifications.clients.responses import no_response
from notifications.domain.deliveries import OutboundMessage
from notifications.domain.errors import DeviceGone, ProviderRefused, ProviderUnavailable
from notifications.domain.push_options import push_options

PROVIDER: Final = "web-push"
# Push services refuse a signature that is good for more than a day (RFC 8292, section 2).
SIGNATURE_SECONDS: Final = 12 * 3_600
_GONE: Final = frozenset({404, 410})
_REFUSED: Final = frozenset({400, 403, 413})


class WebPush:
    """Every push service of every browser: the subscription says which."""

    provider = PROVIDER

    def __init__(self, http: OutboundClient, clock: Clock, key: str, subject: str) -> None:
        self._http, self._clock, self._subject = http, clock, subject
        self._key = Vapid02.from_raw(key.rstrip("=").encode())

    @property
    def public_key(self) -> str:
        """What a browser subscribes with (`applicationServerKey`), base64url."""
        point = self._key.public_key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return str(b64urlencode(point))

    async def send(self, message_out: OutboundMessage) -> str:
        """The push service's address of the message; raises ProviderAway, ProviderRefused and DeviceGone."""
        manners = push_options(message_out.template)
        headers = {
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(manners.ttl_seconds),
            "Urgency": manners.urgency,
            # 32 letters, as the header allows: what is sent again replaces what still waits.
            "Topic": message_out.notification_id.hex,
            **self._signature(message_out.address),
        }
        body = _encrypted(message_out)
        try:
            answer = await self._http.post(message_out.address, content=body, headers=headers)
        except AddressRefused as refused:
            raise ProviderRefused(PROVIDER, f"the endpoint {refused.reason}") from refused
        except httpx.HTTPError as error:
            raise no_response(PROVIDER, error) from error
        if answer.status_code in _GONE:
            raise DeviceGone(PROVIDER, f"{answer.status_code} the subscription is gone")
        if answer.status_code in _REFUSED:
            raise ProviderRefused(PROVIDER, f"{answer.status_code} the push service refused the message")
        if not answer.is_success:
            raise ProviderUnavailable(PROVIDER, f"{answer.status_code} the push service did not take the message")
        # The address of the message would let its reader cancel it: its last part tells as much.
        return (
            answer.headers.get("location", "").rstrip("/").rpartition("/")[2][:200] or message_out.notification_id.hex
        )

    def _signature(self, endpoint: str) -> Mapping[str, str]:
        expires = int(self._clock.now().timestamp()) + SIGNATURE_SECONDS
        claims = {"aud": origin_of(endpoint), "sub": self._subject, "exp": expires}
        signed: Mapping[str, str] = self._key.sign(claims)
        return signed


def _encrypted(message_out: OutboundMessage) -> bytes:
    device = message_out.device
    if device is None:
        raise ProviderRefused(PROVIDER, "there is no subscription")
    content = {
        "title": message_out.message.subject,
        "body": message_out.message.text,
        "template": message_out.template,
        "notificationId": str(message_out.notification_id),
    }
    keys = {"p256dh": device.public_key, "auth": device.auth_secret}
    try:
        sealed = WebPusher({"endpoint": device.address, "keys": keys}).encode(msgspec.json.encode(content))
    except ValueError as error:
        raise DeviceGone(PROVIDER, "the subscription's keys are none") from error
    body: bytes = sealed["body"]
    return body
