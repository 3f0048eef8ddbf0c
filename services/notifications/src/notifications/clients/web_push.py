"""Web push: the message encrypted for one browser (RFC 8291), signed with our VAPID key (RFC 8292), sent by RFC 8030."""

import asyncio
import socket
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

import httpx
import msgspec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from py_vapid import Vapid02
from py_vapid.utils import b64urlencode
from pywebpush import WebPusher

from common.clock import Clock
from notifications.clients.answers import no_answer
from notifications.domain.deliveries import Letter
from notifications.domain.errors import DeviceGone, ProviderAway, ProviderRefused
from notifications.domain.push_addresses import endpoint_fault, is_public, origin_of
from notifications.domain.push_manners import manners_of

PROVIDER: Final = "web-push"
# Push services refuse a signature that is good for more than a day (RFC 8292, section 2).
SIGNATURE_SECONDS: Final = 12 * 3_600
_GONE: Final = frozenset({404, 410})
_REFUSED: Final = frozenset({400, 403, 413})


class WebPush:
    """Every push service of every browser: the subscription says which."""

    provider = PROVIDER

    def __init__(self, http: httpx.AsyncClient, clock: Clock, key: str, subject: str, trusted_origin: str) -> None:
        self._http, self._clock, self._subject, self._trusted = http, clock, subject, trusted_origin
        self._key = Vapid02.from_raw(key.rstrip("=").encode())

    @property
    def public_key(self) -> str:
        """What a browser subscribes with (`applicationServerKey`), base64url."""
        point = self._key.public_key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return str(b64urlencode(point))

    async def send(self, letter: Letter) -> str:
        """The push service's address of the message; raises ProviderAway, ProviderRefused and DeviceGone."""
        fault = endpoint_fault(letter.address, self._trusted)
        if fault is not None:
            raise ProviderRefused(PROVIDER, f"the endpoint {fault}")
        manners = manners_of(letter.template)
        headers = {
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(manners.ttl_seconds),
            "Urgency": manners.urgency,
            # 32 letters, as the header allows: what is sent again replaces what still waits.
            "Topic": letter.notification_id.hex,
            **self._signature(letter.address),
        }
        body = _encrypted(letter)
        url, pinned = await self._where(letter.address)
        request = self._http.build_request("POST", url, content=body, headers={**headers, **pinned})
        if pinned:
            request.extensions["sni_hostname"] = pinned["Host"]
        try:
            answer = await self._http.send(request, follow_redirects=False)
        except httpx.HTTPError as error:
            raise no_answer(PROVIDER, error) from error
        if answer.status_code in _GONE:
            raise DeviceGone(PROVIDER, f"{answer.status_code} the subscription is gone")
        if answer.status_code in _REFUSED:
            raise ProviderRefused(PROVIDER, f"{answer.status_code} the push service refused the message")
        if not answer.is_success:
            raise ProviderAway(PROVIDER, f"{answer.status_code} the push service did not take the message")
        # The address of the message would let its reader cancel it: its last part tells as much.
        return answer.headers.get("location", "").rstrip("/").rpartition("/")[2][:200] or letter.notification_id.hex

    def _signature(self, endpoint: str) -> Mapping[str, str]:
        expires = int(self._clock.now().timestamp()) + SIGNATURE_SECONDS
        claims = {"aud": origin_of(endpoint), "sub": self._subject, "exp": expires}
        signed: Mapping[str, str] = self._key.sign(claims)
        return signed

    async def _where(self, endpoint: str) -> tuple[str, dict[str, str]]:
        """The address to call, by number: the name is asked once, and what was checked is what is called."""
        if origin_of(endpoint) == self._trusted:
            return endpoint, {}
        parts = urlsplit(endpoint)
        host = parts.hostname or ""
        number = await public_number(host)
        return parts._replace(netloc=f"[{number}]" if ":" in number else number).geturl(), {"Host": host}


async def public_number(host: str) -> str:
    """The IP address of a host of the public internet; raises ProviderRefused when any of its addresses is another's."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, 443, type=socket.SOCK_STREAM)
    except OSError as error:
        raise ProviderAway(PROVIDER, "the push service's name is not known") from error
    numbers = [str(one[4][0]) for one in found]
    if not numbers or not all(is_public(number) for number in numbers):
        raise ProviderRefused(PROVIDER, "the endpoint leads into a private network")
    return numbers[0]


def _encrypted(letter: Letter) -> bytes:
    device = letter.device
    if device is None:
        raise ProviderRefused(PROVIDER, "there is no subscription")
    content = {
        "title": letter.message.subject,
        "body": letter.message.text,
        "template": letter.template,
        "notificationId": str(letter.notification_id),
    }
    keys = {"p256dh": device.public_key, "auth": device.auth_secret}
    try:
        sealed = WebPusher({"endpoint": device.address, "keys": keys}).encode(msgspec.json.encode(content))
    except ValueError as error:
        raise DeviceGone(PROVIDER, "the subscription's keys are none") from error
    body: bytes = sealed["body"]
    return body
