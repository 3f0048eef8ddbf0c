"""HTTP calls to addresses that clients registered: push subscriptions, webhook endpoints.

Each call resolves the name once, checks all its IP addresses, and connects to a checked one, which prevents DNS
rebinding. TLS verifies the name. Redirects are not followed, environment proxies are not used, and the response is
bounded in size and time.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, cast

import httpx

from common.primitives.http_client import HttpClient
from common.primitives.tls import client_tls
from notifications.clients.outbound_addresses import OutboundRules

# No caller reads more of such a response.
BODY_BYTES_MAX: Final = 64 * 1024
# Further addresses of a name are not tried.
ADDRESSES_TRIED_MAX: Final = 3
# A client's slow name server blocks these threads only, not those that resolve our own servers.
RESOLVER_THREADS: Final = 4
# Cookies would be stored for the next call, and compressed bodies would expand beyond the bound.
_DROPPED_HEADERS: Final = frozenset({"set-cookie", "content-encoding"})

# Resolves (name, port) to IP addresses. Raises OSError for a name without any.
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


class AddressRefused(httpx.ConnectError):
    """The address is not allowed, and no request was sent. `reason` is for the client that registered it."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the address {reason}")
        self.reason = reason


class OutboundClient(HttpClient):
    """An HTTP client for registered addresses. `seconds` bounds a call: resolution, connection, response and body."""

    def __init__(
        self,
        rules: OutboundRules,
        *,
        seconds: float,
        resolve: Resolve | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__(
            transport=_OutboundTransport(rules, seconds, resolve, tls or client_tls()),
            timeout=httpx.Timeout(seconds, connect=seconds / 2),
            headers={"Accept-Encoding": "identity"},
            follow_redirects=False,
            trust_env=False,
        )

    async def request(self, method: str, url: httpx.URL | str, **more: Any) -> httpx.Response:
        """Raise AddressRefused, also for a malformed address; other errors are httpx's."""
        try:
            return await super().request(method, url, **more)
        except (httpx.InvalidURL, UnicodeError):
            raise AddressRefused("is not a valid address") from None


class _OutboundTransport(httpx.AsyncBaseTransport):
    def __init__(self, rules: OutboundRules, seconds: float, resolve: Resolve | None, tls: ssl.SSLContext) -> None:
        self._rules, self._seconds = rules, seconds
        self._threads = ThreadPoolExecutor(RESOLVER_THREADS, thread_name_prefix="outbound-names")
        self._resolve = resolve or self._resolve_by_system
        self._trusted = httpx.AsyncHTTPTransport(verify=tls, trust_env=False)
        # A kept-alive connection belongs to an IP address. Two names of one address would share it, but TLS verified
        # one name.
        unshared = httpx.Limits(max_connections=100, max_keepalive_connections=0)
        self._checked = httpx.AsyncHTTPTransport(verify=tls, trust_env=False, limits=unshared)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        until = asyncio.get_running_loop().time() + self._seconds
        url = str(request.url)
        if self._rules.trusts(url):
            return await _respond(self._trusted, request, until)
        fault = self._rules.fault_of(url)
        if fault is not None:
            raise AddressRefused(fault)
        host = request.url.raw_host.decode("ascii").rstrip(".")
        failed: httpx.TransportError = httpx.ConnectError("the name has no address")
        for number in (await self._checked_numbers(request.url, host, until))[:ADDRESSES_TRIED_MAX]:
            extensions = {**request.extensions, "sni_hostname": host}
            # `Host` was written from the name when the request was made.
            pinned = httpx.Request(
                request.method,
                request.url.copy_with(host=number),
                headers=request.headers,
                stream=request.stream,
                extensions=extensions,
            )
            try:
                return await _respond(self._checked, pinned, until)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                failed = error
        raise failed

    async def aclose(self) -> None:
        await self._trusted.aclose()
        await self._checked.aclose()
        self._threads.shutdown(wait=False)

    async def _checked_numbers(self, url: httpx.URL, host: str, until: float) -> list[str]:
        try:
            async with asyncio.timeout_at(until):
                numbers = list(await self._resolve(host, url.port or (443 if url.scheme == "https" else 80)))
        except TimeoutError:
            raise httpx.ConnectTimeout("the name was not resolved in time") from None
        except OSError as error:
            raise httpx.ConnectError("the name is not known") from error
        if not all(self._rules.allows(number, url.scheme) for number in numbers):
            raise AddressRefused("leads into a private network")
        return numbers

    async def _resolve_by_system(self, host: str, port: int) -> list[str]:
        def find() -> list[str]:
            return [str(one[4][0]) for one in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]

        return await asyncio.get_running_loop().run_in_executor(self._threads, find)


async def _respond(transport: httpx.AsyncBaseTransport, request: httpx.Request, until: float) -> httpx.Response:
    try:
        async with asyncio.timeout_at(until):
            response = await transport.handle_async_request(request)
    except TimeoutError:
        raise httpx.ReadTimeout("no answer in time") from None
    headers = [(name, value) for name, value in response.headers.multi_items() if name not in _DROPPED_HEADERS]
    body = _BoundedBody(cast("httpx.AsyncByteStream", response.stream), until)
    return httpx.Response(response.status_code, headers=headers, stream=body, extensions=response.extensions)


class _BoundedBody(httpx.AsyncByteStream):
    """A body that ends at its size limit, at the deadline, or with the connection: the status already holds the
    outcome.
    """

    def __init__(self, stream: httpx.AsyncByteStream, until: float) -> None:
        self._stream, self._until = stream, until

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pieces, left = aiter(self._stream), BODY_BYTES_MAX
        while left > 0:
            try:
                async with asyncio.timeout_at(self._until):
                    piece = await anext(pieces, None)
            except (TimeoutError, httpx.TransportError):
                return
            if piece is None:
                return
            yield piece[:left]
            left -= len(piece)

    async def aclose(self) -> None:
        await self._stream.aclose()
