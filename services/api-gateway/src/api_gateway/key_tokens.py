"""Exchange of API keys for short tokens at identity (decision 201). Services verify the token; no key reaches them."""

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import msgspec

from api_gateway.connection import UpstreamFailed
from api_gateway.forwarding import ResponseTooLong, read_response
from api_gateway.headers import request_head
from api_gateway.services import IDENTITY
from api_gateway.upstream import Upstreams
from common.auth.api_keys import KEY_CACHE_SECONDS, KEY_TOKEN_PATH, is_api_key
from common.observability.telemetry import trace_headers
from common.primitives.clock import Clock
from common.primitives.limits import WAIT_LIMITS
from common.primitives.problems import Unauthorized, Unavailable
from common.web.client_address import CLIENT_ADDRESS

# A vendor's machine has few addresses; the least recently used entry is removed.
_ENTRIES_MAX: Final = 10_000


class _Token(msgspec.Struct, rename="camel"):
    token: str | None
    expires_at: datetime | None


class _Response(msgspec.Struct):
    data: _Token


_decode: Final = msgspec.json.Decoder(_Response).decode


@dataclass(frozen=True, slots=True)
class _Known:
    """The token of a key at an address, None for a key that is refused there, and the end of its use."""

    token: str | None
    until: datetime


class KeyTokens:
    """The tokens of keys, each cached for KEY_CACHE_SECONDS."""

    def __init__(self, upstreams: Upstreams, clock: Clock) -> None:
        self._upstreams, self._clock = upstreams, clock
        self._known: OrderedDict[tuple[str, str], _Known] = OrderedDict()

    async def token_of(self, key: str, address: str) -> str:
        """Return the token of a key that is used from this address.

        Raises Unauthorized for an unknown, expired, revoked or misplaced key alike, and Unavailable.
        """
        if not is_api_key(key):
            raise Unauthorized
        now = self._clock.now()
        known = self._known.get((key, address))
        if known is None or now >= known.until:
            known = await self._exchange(key, address, now)
            self._known[key, address] = known
            self._known.move_to_end((key, address))
            if len(self._known) > _ENTRIES_MAX:
                self._known.popitem(last=False)
        if known.token is None:
            raise Unauthorized
        return known.token

    async def _exchange(self, key: str, address: str, now: datetime) -> _Known:
        upstream = self._upstreams[IDENTITY]
        body = msgspec.json.encode({"key": key})
        own = {**trace_headers(), CLIENT_ADDRESS: address, "content-length": str(len(body))}
        lines = "".join(f"{name}: {value}\r\n" for name, value in own.items()) + "\r\n"
        head = request_head(
            "POST",
            KEY_TOKEN_PATH.encode(),
            upstream.host_header,
            {b"content-type": b"application/json"},
            lines.encode(),
            with_token=False,
        )
        try:
            response = await upstream.send_request(head, body, seconds_max=WAIT_LIMITS.identity, may_repeat=True)
            try:
                content = await read_response(response)
                if response.status != 200:
                    raise Unavailable
                exchanged = _decode(content).data
            finally:
                response.release()
        except (UpstreamFailed, ResponseTooLong, msgspec.DecodeError) as error:
            raise Unavailable from error
        until = now + timedelta(seconds=KEY_CACHE_SECONDS)
        if exchanged.expires_at is not None:
            until = min(until, exchanged.expires_at)
        return _Known(exchanged.token, until)
