"""Reads of our own catalog and orders under the caller's token (architecture section 1). Row security applies."""

import re
from typing import Final

import httpx
import msgspec

from common.primitives.json_records import Json
from notifications.assistant.domain.assistant_tools import Lookup
from notifications.assistant.domain.conversations import Requester

# A page of eight orders with fifty items each is some hundred KiB.
RESPONSE_BYTES_MAX: Final = 512 * 1024
RESPONSE_SECONDS_MAX: Final = 5.0
# A second check: only these paths are ever requested.
_PATHS: Final = re.compile(
    r"/api/(?:products|orders|vendors)(?:/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})?", re.ASCII
)


class MarketplaceUnavailable(Exception):
    """No response, or an unusable one."""


class Marketplace:
    """The services of orders and of vendors, or the gateway in front of them."""

    def __init__(self, http: httpx.AsyncClient, orders_url: str, vendors_url: str) -> None:
        self._http, self._orders_url, self._vendors_url = http, orders_url.rstrip("/"), vendors_url.rstrip("/")

    async def read(self, lookup: Lookup, requester: Requester | None) -> Json:
        """Return the `data` of the response; None for 404. Raises MarketplaceUnavailable."""
        if not _PATHS.fullmatch(lookup.path):
            raise MarketplaceUnavailable("this path is not asked")
        url = self._vendors_url if lookup.tool == "list_vendors" else self._orders_url
        authorization = {"Authorization": f"Bearer {requester.token}"} if requester else {}
        try:
            async with self._http.stream(
                "GET",
                url + lookup.path,
                params=dict(lookup.parameters),
                headers={**authorization, "Accept-Encoding": "identity"},
                timeout=RESPONSE_SECONDS_MAX,
                follow_redirects=False,
            ) as response:
                if response.status_code == 404:
                    return None
                if response.status_code != 200:
                    raise MarketplaceUnavailable(f"answered {response.status_code}")
                return _content(await _body(response))
        except httpx.HTTPError as error:
            raise MarketplaceUnavailable(type(error).__name__) from None


async def _body(response: httpx.Response) -> bytes:
    body = bytearray()
    async for piece in response.aiter_raw():
        body += piece
        if len(body) > RESPONSE_BYTES_MAX:
            raise MarketplaceUnavailable("the answer is too long")
    return bytes(body)


def _content(body: bytes) -> Json:
    try:
        document: Json = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise MarketplaceUnavailable("the answer is not JSON") from None
    return document.get("data") if isinstance(document, dict) else None
