"""Our own catalog and orders, read under the token of whoever asks (architecture section 1): their row policies decide what is seen."""

import re
from typing import Any, Final

import httpx
import msgspec

from notifications.domain.assistant_tools import Lookup

# A page of eight orders with fifty items each has some hundred KiB.
ANSWER_BYTES_MAX: Final = 512 * 1024
ANSWER_SECONDS_MAX: Final = 5.0
# The second lock: whatever a look-up was made from, nothing but these is ever asked.
_PATHS: Final = re.compile(r"/api/(?:products|orders)(?:/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})?", re.ASCII)


class MarketplaceUnavailable(Exception):
    """No answer, or one that is of no use."""


class Marketplace:
    """The orders service, or the gateway before it."""

    def __init__(self, http: httpx.AsyncClient, url: str) -> None:
        self._http, self._url = http, url.rstrip("/")

    async def read(self, lookup: Lookup, token: str) -> Any | None:
        """The `data` of the answer; None for 404. Raises MarketplaceAway."""
        if not _PATHS.fullmatch(lookup.path):
            raise MarketplaceUnavailable("this path is not asked")
        try:
            async with self._http.stream(
                "GET",
                self._url + lookup.path,
                params=dict(lookup.parameters),
                headers={"Authorization": f"Bearer {token}", "Accept-Encoding": "identity"},
                timeout=ANSWER_SECONDS_MAX,
                follow_redirects=False,
            ) as answer:
                if answer.status_code == 404:
                    return None
                if answer.status_code != 200:
                    raise MarketplaceUnavailable(f"answered {answer.status_code}")
                return _content(await _body(answer))
        except httpx.HTTPError as error:
            raise MarketplaceUnavailable(type(error).__name__) from None


async def _body(answer: httpx.Response) -> bytes:
    body = bytearray()
    async for piece in answer.aiter_raw():
        body += piece
        if len(body) > ANSWER_BYTES_MAX:
            raise MarketplaceUnavailable("the answer is too long")
    return bytes(body)


def _content(body: bytes) -> Any:
    try:
        document = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise MarketplaceUnavailable("the answer is not JSON") from None
    return document.get("data") if isinstance(document, dict) else None
