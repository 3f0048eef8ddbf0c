"""Calls to webhook endpoints, whose addresses their owners registered."""

from collections.abc import Mapping
from typing import Final

import httpx

from notifications.clients.outbound import AddressRefused, OutboundClient
from notifications.webhooks.domain.webhooks import WebhookResponse

# The body of a response is read up to here; the owner sees the start of it.
BODY_BYTES_MAX: Final = 4_096
EXCERPT_CHARACTERS_MAX: Final = 300
_HEADERS: Final = {"Content-Type": "application/json", "User-Agent": "Campus-Marketplace-Webhooks/1"}


class WebhookClient:
    """Posts events. `OutboundClient` checks the resolved address of each call and follows no redirect."""

    def __init__(self, http: OutboundClient) -> None:
        self._http = http

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> WebhookResponse:
        """Return the response, or the reason why there is none."""
        try:
            async with self._http.stream("POST", url, content=body, headers={**_HEADERS, **headers}) as response:
                return WebhookResponse(response.status_code, await _excerpt(response))
        except AddressRefused as error:
            return WebhookResponse(None, error=f"the address {error.reason}")
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            return WebhookResponse(None, error=f"no response: {type(error).__name__}")


async def _excerpt(response: httpx.Response) -> str:
    read = b""
    async for piece in response.aiter_raw():
        read += piece
        if len(read) >= BODY_BYTES_MAX:
            break
    # PostgreSQL cannot store U+0000.
    return read[:BODY_BYTES_MAX].decode(errors="replace").replace("\x00", "")[:EXCERPT_CHARACTERS_MAX]
