"""The time from the commit of an event to the commit of its effect, through relay and broker."""

import asyncio
import json
import sys
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

import httpx

from common.messaging.topology import declare_topology, declared_topology
from common.primitives.ids import new_id
from common.primitives.retry import RetryLadder
from lab.bench.environment import BenchEnvironment
from lab.bench.figures import Figures, Goal, Reading, Row, percentile
from lab.bench.programs import BenchFailed
from operations.connecting import connected

_RATE = 200


async def measure(bench: BenchEnvironment) -> list[Row]:
    """`orders` publishes OrderPlaced, payments' consumers project the order; both use a separate virtual host."""
    seconds = bench.effort.seconds * bench.effort.rounds
    broker_url = await virtual_host(bench)
    await _truncate_outbox(bench.databases["orders"].admin)
    folder = bench.system.state_dir / "bench"
    folder.mkdir(exist_ok=True)
    consumer = await _start(bench, "payments", broker_url, "consume", folder / "consumed.json", round(seconds * _RATE))
    publisher = await _start(bench, "orders", broker_url, "publish", folder / "published.json", round(seconds * _RATE))
    within = seconds + 60
    try:
        output = (await asyncio.wait_for(asyncio.gather(publisher.communicate(), consumer.communicate()), within))[0][0]
    except TimeoutError as error:
        raise BenchFailed(f"not all events were consumed within {within:.0f} s") from error
    finally:
        for child in (publisher, consumer):
            if child.returncode is None:
                child.kill()
    if publisher.returncode or consumer.returncode:
        raise BenchFailed(f"publisher or consumer exited with an error:\n{output.decode()}")
    published = json.loads((folder / "published.json").read_text())
    consumed = json.loads((folder / "consumed.json").read_text())
    times = [(consumed["at_ns"][subject] - at_ns) / 1e6 for subject, at_ns in published["at_ns"].items()]
    cpu = published["cpu_seconds"] + consumed["cpu_seconds"]
    reading = Reading(len(times), len(times) / _RATE, percentile(times, 0.5), percentile(times, 0.99), cpu)
    return [
        Row(
            f"outbox to consumer at {_RATE}/s",
            "",
            Figures.of([reading]),
            goals=(Goal("p50_ms", 8, unit=" ms"), Goal("p99_ms", 40, unit=" ms")),
            note="commit to commit; CPU of both processes",
        )
    ]


async def _start(
    bench: BenchEnvironment, service: str, broker_url: str, part: str, path: Path, count: int
) -> asyncio.subprocess.Process:
    urls = bench.databases[service]
    environment = bench.variables(
        service, bench.next_port(), BROKER_URL=broker_url, API_DATABASE_URL=urls.api, SERVICE_DATABASE_URL=urls.service
    )
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "lab.bench.event_processes", part, str(path), str(count), str(_RATE),
        env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip


async def _truncate_outbox(admin_url: str) -> None:
    """Remove the events of earlier checkouts, which no relay has published."""
    async with connected(admin_url) as connection:
        await connection.execute("TRUNCATE outbox")


async def virtual_host(bench: BenchEnvironment) -> str:
    servers = bench.system.servers
    parts = urlsplit(servers.broker_url)
    name = f"bench-{new_id().hex[-12:]}"
    async with httpx.AsyncClient(base_url=servers.management_url, timeout=30, trust_env=False) as api:
        (await api.put(f"/api/vhosts/{name}")).raise_for_status()
        user = quote(parts.username or "guest", safe="")
        rights = {"configure": ".*", "write": ".*", "read": ".*"}
        (await api.put(f"/api/permissions/{name}/{user}", json=rights)).raise_for_status()
    url = urlunsplit(parts._replace(path=f"/{name}"))
    await declare_topology(url, declared_topology(RetryLadder()))
    return url
