"""The HTTP client for providers: httpx's interface over aiohttp's connections, for a third of the CPU of a call.

The transport is ours because its errors decide whether a provider may have received a request. The package
httpx-aiohttp reports a connection that ended after the request as `ConnectTimeout`, which means that nothing was sent
(docs/decisions/0054).
"""

import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from typing import Final
from urllib.request import getproxies

import aiohttp
import httpx
from yarl import URL

from common.primitives.tls import client_tls

# httpx's default. A provider keeps an idle connection for longer.
KEEPALIVE_SECONDS: Final = 5.0
_BYTES_AT_ONCE_MAX: Final = 2**20
# httpx has set those that a request needs.
_NO_AUTO_HEADERS: Final = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")


def provider_client(
    *,
    timeout: httpx.Timeout | float,
    base_url: str = "",
    headers: Mapping[str, str] | None = None,
    connections_max: int = 100,
    trust_env: bool = True,
    tls: ssl.SSLContext | None = None,
) -> httpx.AsyncClient:
    """Return a client for providers. `timeout` in seconds; `trust_env` uses the proxies of the environment; `tls` is
    the trust of a client of our own services, in place of the public authorities.

    `ConnectError`, `ConnectTimeout` and `UnsupportedProtocol` mean that no request was sent. After any other error the
    provider may have received it. A wait for a free connection that ends is a `ConnectTimeout`.
    """
    return httpx.AsyncClient(
        base_url=base_url,
        headers=headers,
        timeout=timeout,
        transport=AiohttpTransport(connections_max, trust_env, tls or client_tls()),
    )


class AiohttpTransport(httpx.AsyncBaseTransport):
    """The transport of such a client, for one with other arguments."""

    def __init__(self, connections_max: int, trust_env: bool, tls: ssl.SSLContext) -> None:
        self._connections_max, self._trust_env, self._tls = connections_max, trust_env, tls
        # aiohttp opens its session in the loop that uses it.
        self._session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if self._session is None:
            self._session = self._open()
        timeout = request.extensions["timeout"]
        body = await request.aread()
        headers = [(name, value) for name, value in request.headers.multi_items() if name != "transfer-encoding"]
        # The account of an address is in httpx's header: aiohttp rejects both.
        url = request.url.copy_with(userinfo=b"") if request.url.userinfo else request.url
        with _errors_of_httpx():
            response = await self._session.request(
                request.method,
                URL(str(url), encoded=True),
                headers=headers,
                skip_auto_headers=_NO_AUTO_HEADERS,
                # aiohttp warns of large bytes, which it writes at once.
                data=BytesIO(body) if len(body) > _BYTES_AT_ONCE_MAX else body or None,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(
                    connect=timeout["pool"], sock_connect=timeout["connect"], sock_read=timeout["read"]
                ),
            )
        return httpx.Response(response.status, headers=response.raw_headers, stream=_Body(response))

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()

    def _open(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=self._connections_max, keepalive_timeout=KEEPALIVE_SECONDS, ssl=self._tls
            ),
            # httpx decodes bodies and keeps cookies.
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            # With it aiohttp reads proxies and .netrc in two threads at each request.
            trust_env=self._trust_env and bool(getproxies()),
        )


class _Body(httpx.AsyncByteStream):
    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _errors_of_httpx():
            async for chunk in self._response.content.iter_any():
                yield chunk

    async def aclose(self) -> None:
        # A connection whose body was not read to its end is closed.
        self._response.release()


@contextmanager
def _errors_of_httpx() -> Iterator[None]:
    """Raise httpx's errors in place of aiohttp's. The order matters: aiohttp's classes overlap."""
    try:
        yield
    except aiohttp.ConnectionTimeoutError as error:
        raise httpx.ConnectTimeout(str(error)) from error
    except aiohttp.ClientConnectorError as error:
        raise httpx.ConnectError(str(error)) from error
    except (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError) as error:
        raise httpx.UnsupportedProtocol(str(error)) from error
    except TimeoutError as error:
        raise httpx.ReadTimeout(str(error)) from error
    except (aiohttp.ClientError, OSError) as error:
        raise httpx.RemoteProtocolError(f"{type(error).__name__}: {error}") from error
