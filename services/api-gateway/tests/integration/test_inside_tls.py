"""The gateway reaches its services and its quota store over TLS, and serves its own ports over it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from starlette.responses import PlainTextResponse

from api_gateway.connection import UpstreamFailed
from api_gateway.metrics import Metrics
from api_gateway.sliding_window import Counter, SlidingWindows
from api_gateway.store_quotas import StoreQuotas
from api_gateway.upstream import Upstreams
from campus_tools.servers.redis import PrivateRedis
from common.primitives.ids import new_id
from common.primitives.inside_tls import inside_client_tls, server_tls
from testkit.certificates import Authority
from testkit.fixtures import PATIENT, DatabaseUrls, eventually
from testkit.service_kit import Issuer, served

from .conftest import Upstream
from .gateway_process import running_process

HOST = "127.0.0.1"
REQUEST = b"GET / HTTP/1.1\r\nhost: orders\r\n\r\n"
# Enough for each of the clients to open connections at each step of the rotation.
RESPONSES_PER_STEP = 24


@asynccontextmanager
async def upstreams_of(url: str, authorities: Path) -> AsyncIterator[Upstreams]:
    made = Upstreams({"orders": url}, 4, tls=inside_client_tls(str(authorities)))
    try:
        yield made
    finally:
        await made.close()


async def status_of(upstreams: Upstreams) -> int:
    response = await upstreams["orders"].send_request(REQUEST, b"", seconds_max=60, may_repeat=False)
    assert await response.next_chunk() == b"ok"
    response.release()
    return response.status


def written(file: Path, *authorities: Authority) -> Path:
    """Write the certificates of authorities in place of the file, as Kubernetes replaces a mounted secret."""
    fresh = file.with_suffix(".new")
    fresh.write_bytes(b"".join(it.pem for it in authorities))
    return fresh.replace(file)


@pytest.mark.parametrize(
    ("names", "days", "is_known", "reason"),
    [
        ([HOST], 1, False, "unable to get local issuer certificate"),
        ([HOST], -1, True, "certificate has expired"),
        (["payments-api"], 1, True, "IP address mismatch"),
    ],
)
async def test_gateway_refuses_a_service_with_another_certificate(
    tmp_path: Path, authority: Authority, names: list[str], days: int, is_known: bool, reason: str
) -> None:
    trusted = authority if is_known else Authority()
    async with (
        served(PlainTextResponse("ok"), tls=authority.server_of(tmp_path, *names, days=days)) as url,
        upstreams_of(url, written(tmp_path / "ca.pem", trusted)) as upstreams,
    ):
        with pytest.raises(UpstreamFailed, match=reason) as failed:
            await status_of(upstreams)
        assert failed.value.nothing_sent


async def test_new_connections_use_new_certificates_and_authorities(tmp_path: Path, authority: Authority) -> None:
    file, authorities = authority.issue(tmp_path / "service.pem", HOST), written(tmp_path / "ca.pem", authority)
    async with (
        served(PlainTextResponse("ok"), tls=server_tls(str(file), str(file))) as url,
        upstreams_of(url, authorities) as upstreams,
    ):
        assert await status_of(upstreams) == 200
        next_one = Authority()
        next_one.issue(file, HOST)
        upstreams["orders"].close()
        with pytest.raises(UpstreamFailed, match="certificate verify failed"):
            await status_of(upstreams)
        written(authorities, next_one)
        assert await status_of(upstreams) == 200


async def test_quota_store_is_reached_over_tls_whose_authority_may_change(
    tmp_path: Path, authority: Authority, private_redis: PrivateRedis
) -> None:
    file, authorities = authority.issue(tmp_path / "store.pem", HOST), written(tmp_path / "ca.pem", authority)
    port = int(private_redis.url.rpartition(":")[2].partition("/")[0])

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, here = await asyncio.open_connection(HOST, port)
        await asyncio.gather(_pipe(reader, here), _pipe(there, writer))

    server = await asyncio.start_server(forward, HOST, 0, ssl=server_tls(str(file), str(file)))
    async with server:
        over_tls = private_redis.url.replace("redis:", "rediss:").replace(
            f":{port}", f":{server.sockets[0].getsockname()[1]}"
        )
        url = f"{over_tls}?ssl_ca_certs={authorities}"
        quotas = StoreQuotas(url, SlidingWindows(60), Metrics(), seconds_max=PATIENT.identity)
        counter = Counter("2", str(uuid4()), 5)
        assert (await quotas.count([counter], 1, strict=True)).remaining == 4
        next_one = Authority()
        next_one.issue(file, HOST)
        written(authorities, next_one)
        await quotas._client.connection_pool.disconnect()
        assert (await quotas.count([counter], 1, strict=True)).remaining == 3
        await quotas.close()


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while received := await reader.read(65_536):
        writer.write(received)
    writer.close()


async def test_no_request_is_lost_while_certificates_and_their_authority_change(
    tmp_path: Path,
    authority: Authority,
    module_urls: DatabaseUrls,
    broker_url: str,
    upstream: Upstream,
    issuer: Issuer,
) -> None:
    authorities = written(tmp_path / "ca.pem", authority)
    gateway, service = (authority.issue(tmp_path / f"{name}.pem", HOST) for name in ("gateway", "service"))
    responses, failed, is_done = 0, [], asyncio.Event()
    files = {
        "INSIDE_CA_FILE": str(authorities),
        "INSIDE_CERTIFICATE_FILE": str(gateway),
        "INSIDE_KEY_FILE": str(gateway),
        "RATE_TIER_2": "1000000",
    }
    async with (
        served(upstream.app(), tls=server_tls(str(service), str(service))) as service_url,
        running_process(module_urls, broker_url, issuer, service_url, **files) as (process, lasting),
    ):
        base_url, headers = str(lasting.base_url), {"Authorization": f"Bearer {issuer.token(new_id())}"}

        async def connect() -> httpx.AsyncClient:
            return httpx.AsyncClient(base_url=base_url, timeout=60, trust_env=False, verify=process.trust)

        async def work(*, is_lasting: bool) -> None:
            nonlocal responses
            while not is_done.is_set():
                client = lasting if is_lasting else await connect()
                try:
                    response = await client.get("/api/orders", headers=headers)
                    failed.extend([] if response.status_code == 201 else [response.text])
                except httpx.TransportError as error:
                    failed.append(repr(error))
                finally:
                    if not is_lasting:
                        await client.aclose()
                responses += 1

        async def some_responses() -> None:
            count = responses + RESPONSES_PER_STEP
            await eventually(lambda: responses > count, within=300)

        clients = [asyncio.create_task(work(is_lasting=it)) for it in (True, True, False, False)]
        await some_responses()
        next_one = Authority()
        written(authorities, authority, next_one)
        await some_responses()
        for file in (gateway, service):
            next_one.issue(file, HOST)
        await some_responses()
        written(authorities, next_one)
        await some_responses()
        is_done.set()
        await asyncio.gather(*clients)
        assert failed == []
        for port in (process.port, process.metrics_port):
            address = f"https://{HOST}:{port}/health/liveness"
            async with httpx.AsyncClient(trust_env=False, verify=next_one.client) as client:
                assert (await client.get(address)).status_code == 200
            async with httpx.AsyncClient(trust_env=False, verify=authority.client) as client:
                with pytest.raises(httpx.ConnectError, match="certificate verify failed"):
                    await client.get(address)
