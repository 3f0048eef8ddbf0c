"""`python -m lab.bench.bare_proxy`: a FastAPI proxy that forwards every request with httpx.

The simplest gateway: without authentication, quotas, metrics and stored responses.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import httpx
import uvloop
from fastapi import FastAPI, Request, Response
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from common.process.process_settings import ProcessSettings
from common.process.server import serve
from common.process.settings import read_settings

# More than the load has connections, so that no request waits for one.
_CONNECTIONS_MAX: Final = 256
_OF_ONE_CONNECTION: Final = frozenset({"connection", "content-length", "host", "keep-alive", "transfer-encoding"})
_METHODS: Final = ["GET", "POST", "PUT", "PATCH", "DELETE"]


@asynccontextmanager
async def proxy(upstream_url: str) -> AsyncIterator[FastAPI]:
    """Yield the application and its open client."""
    app = FastAPI(openapi_url=None)
    limits = httpx.Limits(max_connections=_CONNECTIONS_MAX, max_keepalive_connections=_CONNECTIONS_MAX)
    async with httpx.AsyncClient(base_url=upstream_url, limits=limits, trust_env=False) as client:

        @app.get("/health/readiness")
        async def ready() -> dict[str, bool]:
            return {"success": True}

        @app.api_route("/{path:path}", methods=_METHODS)
        async def forward(request: Request) -> Response:
            headers = [pair for pair in request.headers.items() if pair[0] not in _OF_ONE_CONNECTION]
            url = request.url.path + (f"?{request.url.query}" if request.url.query else "")
            response = await client.request(request.method, url, headers=headers, content=await request.body())
            forwarded = {name: text for name, text in response.headers.items() if name not in _OF_ONE_CONNECTION}
            return Response(response.content, response.status_code, forwarded)

        yield app


async def main() -> None:
    async with proxy(os.environ["UPSTREAM_URL"]) as app:
        await serve(app, read_settings(ProcessSettings), [], protocol=HttpToolsProtocol)


if __name__ == "__main__":
    uvloop.run(main())
