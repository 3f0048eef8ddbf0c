"""The HTTP client for our own services and for addresses that users name; `common.web.provider_client` is for
providers.
"""

from typing import Any

import httpx


class HttpClient(httpx.AsyncClient):
    """httpx's client, whose every failed call is an `httpx.HTTPError`, on uvloop too."""

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        try:
            return await super().send(request, **options)
        except AttributeError as error:
            # On uvloop a connection that is lost between its opening and its first use has no socket, of which anyio
            # reads the peer. Nothing was sent.
            if error.obj is None and error.name == "getpeername":
                raise httpx.ConnectError("The connection was lost as soon as it was open.", request=request) from error
            raise
