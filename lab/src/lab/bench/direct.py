"""`python -m lab.bench.direct`: serve a page with Starlette, asyncpg and msgspec only.

The limit of the product page: the same statement and encoding, without authorization, cursor, metrics and envelope.
"""

import os
from typing import Any

import asyncpg
import msgspec
import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from common.process.process_settings import ProcessSettings
from common.process.server import serve
from common.process.settings import read_settings


async def main() -> None:
    statement = os.environ["BENCH_STATEMENT"]
    pool: Any = await asyncpg.create_pool(
        os.environ["API_DATABASE_URL"],
        min_size=1,
        max_size=10,
        server_settings={"jit": "off"},
        init=_register_json,
        reset=_skip_reset,
    )

    async def page(_: Request) -> Response:
        rows = [dict(record) for record in await pool.fetch(statement)]
        return Response(msgspec.json.encode({"success": True, "data": rows}), media_type="application/json")

    async def ready(_: Request) -> Response:
        return Response(b"{}", media_type="application/json")

    app = Starlette(routes=[Route("/page", page), Route("/health/readiness", ready)])
    await serve(app, read_settings(ProcessSettings), [], protocol=HttpToolsProtocol)


async def _register_json(connection: asyncpg.Connection) -> None:
    await connection.set_type_codec(
        "jsonb",
        schema="pg_catalog",
        format="binary",
        encoder=lambda value: b"\x01" + msgspec.json.encode(value),
        decoder=lambda raw: msgspec.json.decode(raw[1:]),
    )


async def _skip_reset(connection: asyncpg.Connection) -> None:
    """No round trip at the release of a connection, as in the services."""


if __name__ == "__main__":
    uvloop.run(main())
