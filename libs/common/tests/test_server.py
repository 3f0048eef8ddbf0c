"""The server of a process: it sleeps without requests, dates its responses, and stops on request."""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from email.utils import formatdate
from pathlib import Path

import httpx
import pytest
import uvicorn
from starlette.responses import PlainTextResponse

from common.primitives.clock import ManualClock
from common.primitives.tls import client_tls
from common.process import server
from common.process.loops import Loop
from common.process.server import QuietServer
from common.web.http_protocol import JoinedProtocol
from testkit.certificates import Authority
from testkit.fixtures import eventually

WITHIN_SECONDS = 30


@asynccontextmanager
async def serving(
    tls: ssl.SSLContext | None = None, trust: ssl.SSLContext | None = None
) -> AsyncIterator[tuple[QuietServer, httpx.AsyncClient]]:
    """Yield a server, ended by its `exit`."""
    factory = None if tls is None else lambda _config, _default: tls
    config = uvicorn.Config(
        PlainTextResponse("ok"),
        http=JoinedProtocol,
        port=0,
        log_config=None,
        lifespan="off",
        ssl_context_factory=factory,
    )
    quiet = QuietServer(config)
    task = asyncio.create_task(quiet.serve())
    while not quiet.started:  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.01)
    port = quiet.servers[0].sockets[0].getsockname()[1]
    url = f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    async with httpx.AsyncClient(base_url=url, trust_env=False, verify=trust or client_tls()) as client:
        yield quiet, client
    quiet.exit()
    await asyncio.wait_for(task, WITHIN_SECONDS)


async def test_server_runs_until_its_exit() -> None:
    async with serving() as (quiet, client):
        assert (await client.get("/")).text == "ok"
        assert not quiet.should_exit
    assert quiet.should_exit


async def test_server_ends_while_an_idle_client_over_tls_stays_connected(tmp_path: Path, authority: Authority) -> None:
    async with serving(authority.server_of(tmp_path, "127.0.0.1"), authority.client) as (quiet, client):
        assert (await client.get("/")).text == "ok"
        quiet.exit()
        await eventually(lambda: not quiet.server_state.connections, within=20)


async def test_each_response_has_the_date_of_its_second(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = ManualClock()
    monkeypatch.setattr(server, "SystemClock", lambda: clock)
    async with serving() as (_, client):
        for milliseconds in (200, 700, 100):
            clock.advance(timedelta(milliseconds=milliseconds))
            response = await client.get("/")
            assert response.headers.get_list("date") == [formatdate(int(clock.now().timestamp()), usegmt=True)]


def test_loop_that_finds_nothing_waits_longer_each_time() -> None:
    loop = Loop("loop", time.sleep, every_seconds=1.0, idle_seconds=5.0)  # type: ignore[arg-type]
    pauses, pause = [], loop.every_seconds
    for found in (0, 0, False, None, 3, 0, True):
        pause = loop.pause_after(pause, found)
        pauses.append(pause)
    assert pauses == [2, 4, 5, 5, 1, 2, 1]


def test_loop_keeps_its_interval_by_default() -> None:
    loop = Loop("loop", time.sleep, every_seconds=30.0)  # type: ignore[arg-type]
    assert [loop.pause_after(30.0, found) for found in (0, None, 7)] == [30, 30, 30]
