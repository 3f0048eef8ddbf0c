"""Web push: encrypted for one browser (RFC 8291), signed with VAPID (RFC 8292), sent by RFC 8030."""

from collections.abc import Mapping
from typing import Final

import httpx
import msgspec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from py_vapid import Vapid02
from py_vapid.utils import b64urlencode

from common.primitives.clock import Clock
from notifications.clients.outbound import AddressRefused, OutboundClient
from notifications.clients.outbound_addresses import origin_of
from notifications.deliveries.clients.responses import request_fault, retry_after_seconds
from notifications.deliveries.domain.deliveries import OutboundMessage
from notifications.deliveries.domain.errors import DeviceUnregistered, ProviderRejected, ProviderUnavailable
from notifications.deliveries.domain.push_options import push_options

PROVIDER: Final = "web-push"
# Push services reject signatures that are valid for more than a day (RFC 8292, section 2).
SIGNATURE_SECONDS: Final = 12 * 3_600
_UNREGISTERED_STATUSES: Final = frozenset({404, 410})
_REJECTED_STATUSES: Final = frozenset({400, 403, 413})


class WebPush:
    """All push services; the subscription names its own."""

    provider = PROVIDER

    def __init__(self, http: OutboundClient, clock: Clock, key: str, subject: str) -> None:
        self._http, self._clock, self._subject = http, clock, subject
        self._key = Vapid02.from_raw(key.rstrip("=").encode())

    @property
    def public_key(self) -> str:
        """The public key of browser subscriptions (`applicationServerKey`), base64url."""
        point = self._key.public_key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return str(b64urlencode(point))

    async def send(self, outbound: OutboundMessage) -> str:
        """Return the push service's message id. Raises ProviderUnavailable, ProviderRejected and DeviceUnregistered."""
        options = push_options(outbound.template)
        headers = {
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(options.ttl_seconds),
            "Urgency": options.urgency,
            # 32 characters, the limit of the header. A repetition replaces a waiting message.
            "Topic": outbound.notification_id.hex,
            **self._signature(outbound.address),
        }
        body = _encrypted(outbound)
        try:
            response = await self._http.post(outbound.address, content=body, headers=headers)
        except AddressRefused as error:
            raise ProviderRejected(PROVIDER, f"the endpoint {error.reason}") from error
        except httpx.HTTPError as error:
            raise request_fault(PROVIDER, error) from error
        if response.status_code in _UNREGISTERED_STATUSES:
            raise DeviceUnregistered(PROVIDER, f"{response.status_code} the subscription is gone")
        if response.status_code in _REJECTED_STATUSES:
            raise ProviderRejected(PROVIDER, f"{response.status_code} the push service refused the message")
        if not response.is_success:
            reason = f"{response.status_code} the push service did not take the message"
            raise ProviderUnavailable(PROVIDER, reason, retry_after_seconds=retry_after_seconds(response))
        # The full address would permit cancelling the message, so only its last part is stored.
        return response.headers.get("location", "").rstrip("/").rpartition("/")[2][:200] or outbound.notification_id.hex

    def _signature(self, endpoint: str) -> Mapping[str, str]:
        expires = int(self._clock.now().timestamp()) + SIGNATURE_SECONDS
        claims = {"aud": origin_of(endpoint), "sub": self._subject, "exp": expires}
        signed: Mapping[str, str] = self._key.sign(claims)
        return signed


def _encrypted(outbound: OutboundMessage) -> bytes:
    # Imported here: with `requests` it takes 3 MB of each process, and only the worker sends pushes.
    from pywebpush import WebPusher

    device = outbound.device
    if device is None:
        raise ProviderRejected(PROVIDER, "there is no subscription")
    content = {
        "title": outbound.message.subject,
        "body": outbound.message.text,
        "template": outbound.template,
        "notificationId": str(outbound.notification_id),
        "subject": outbound.subject,
    }
    keys = {"p256dh": device.public_key, "auth": device.auth_secret}
    try:
        encrypted = WebPusher({"endpoint": device.address, "keys": keys}).encode(msgspec.json.encode(content))
    except ValueError as error:
        raise DeviceUnregistered(PROVIDER, "the subscription's keys are none") from error
    body: bytes = encrypted["body"]
    return body
