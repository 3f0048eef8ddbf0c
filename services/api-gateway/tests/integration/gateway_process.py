"""`python -m api_gateway api` as its own process, as deployed except for shorter timeouts."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from campus_tools.servers import held_ports
from common.primitives.http_client import HttpClient
from common.primitives.inside_tls import inside_client_tls
from testkit.fixtures import DatabaseUrls, eventually
from testkit.service_kit import BASE_URL, Issuer

PROGRAM = Path(__file__).with_name("patient_gateway.py")


class Process:
    """A gateway that may be killed and started again on its ports; `changed` are settings by their environment
    names. Its log is appended to `log`, else discarded.
    """

    def __init__(
        self,
        ports: Sequence[int],
        urls: DatabaseUrls,
        broker_url: str,
        issuer: Issuer,
        upstream_url: str,
        log: Path = Path(os.devnull),
        **changed: str,
    ) -> None:
        self._log = log
        self.port, self.metrics_port = ports
        services = ("IDENTITY", "ORDERS", "PAYMENTS", "PAYOUTS", "NOTIFICATIONS")
        self._environment = {
            **os.environ,
            "PORT": str(self.port),
            "METRICS_PORT": str(self.metrics_port),
            "BASE_URL": BASE_URL,
            "JWKS_URL": issuer.jwks_url,
            "API_DATABASE_URL": urls.api,
            "SERVICE_DATABASE_URL": urls.service,
            "BROKER_URL": broker_url,
            "BROKER_VERIFIED_PUBLISHERS": "false",
            **{f"{name}_URL": upstream_url for name in services},
            **changed,
        }
        self._process: asyncio.subprocess.Process | None = None
        authorities = changed.get("INSIDE_CA_FILE", "")
        self.scheme, self.trust = "https" if authorities else "http", inside_client_tls(authorities)

    async def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, str(PROGRAM), "api", env=self._environment, stdout=log
            )

        async def ready() -> bool:
            try:
                async with httpx.AsyncClient(trust_env=False, verify=self.trust) as client:
                    response = await client.get(f"{self.scheme}://127.0.0.1:{self.metrics_port}/health/readiness")
            except httpx.TransportError:
                return False
            return response.status_code == 200

        await eventually(ready, within=300)

    async def end(self, number: signal.Signals) -> int:
        assert self._process is not None
        self._process.send_signal(number)
        code = await asyncio.wait_for(self._process.wait(), 60)
        self._process = None
        return code

    async def stop(self) -> None:
        if self._process is not None:
            await self.end(signal.SIGKILL)


@asynccontextmanager
async def running_process(
    urls: DatabaseUrls,
    broker_url: str,
    issuer: Issuer,
    upstream_url: str,
    log: Path = Path(os.devnull),
    **changed: str,
) -> AsyncIterator[tuple[Process, httpx.AsyncClient]]:
    with held_ports(2) as ports:
        process = Process(ports, urls, broker_url, issuer, upstream_url, log, **changed)
        try:
            await process.start()
            base = f"{process.scheme}://127.0.0.1:{process.port}"
            async with HttpClient(base_url=base, timeout=60, trust_env=False, verify=process.trust) as client:
                yield process, client
        finally:
            await process.stop()
