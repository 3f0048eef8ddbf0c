"""A purchase here and in Vendure, in turns on one PostgreSQL server. Needs Node with npm; `lab/peers/vendure` pins the
versions.

Vendure runs as its own starter sets it up, server and worker, and sends no mail. Its purchase is a cart line, an
address, a shipping method and a payment that its dummy handler settles at once: no provider, no webhook, no PIN. The
server's shared processes (checkpoints, write-ahead log) count here only.
"""

import asyncio
import contextlib
import os
import secrets
import shutil
import statistics
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import asyncpg
import httpx
import psutil

from campus_tools.children import open_log, spawn, stop_child
from lab.bench.counting import Counters, cpu_between
from lab.bench.cpu import own_seconds, tree_seconds
from lab.bench.environment import BenchEnvironment
from lab.bench.figures import Figures, Goal, Row, percentile
from lab.bench.programs import BenchFailed
from lab.orders import Trade
from lab.systems import RunningSystem

_FOLDER: Final = Path(__file__).parents[4] / "peers" / "vendure"
_DATABASE: Final = "peer_vendure"
_WARM: Final = 10
_READY_SECONDS_MAX: Final = 120.0
_REST_SECONDS: Final = 5.0
_VARIANT: Final = "1"
_REGISTER: Final = "mutation($input: RegisterCustomerInput!) { registerCustomerAccount(input: $input) { __typename } }"
_LOGIN: Final = (
    "mutation($name: String!, $password: String!) { login(username: $name, password: $password) { __typename } }"
)
_ADD: Final = "mutation($id: ID!) { addItemToOrder(productVariantId: $id, quantity: 1) { __typename } }"
_ADDRESS: Final = "mutation($input: CreateAddressInput!) { setOrderShippingAddress(input: $input) { __typename } }"
_METHODS: Final = "{ eligibleShippingMethods { id } }"
_METHOD: Final = "mutation($ids: [ID!]!) { setOrderShippingMethod(shippingMethodId: $ids) { __typename } }"
_ARRANGE: Final = 'mutation { transitionOrderToState(state: "ArrangingPayment") { __typename } }'
_PAY: Final = (
    "mutation($input: PaymentInput!) { addPaymentToOrder(input: $input) { __typename ... on Order { state } } }"
)


@dataclass(frozen=True, slots=True)
class _Vendure:
    """A running Vendure with a signed-in customer."""

    http: httpx.AsyncClient
    pids: tuple[int, ...]
    administrator: "asyncpg.Connection[Any]"

    async def sign_in(self) -> None:
        name, password = f"buyer.{secrets.token_hex(4)}@unilag.edu.ng", secrets.token_urlsafe(16)
        account = {"emailAddress": name, "password": password, "firstName": "Tobi", "lastName": "Alabi"}
        await self._call(_REGISTER, "Success", input=account)
        await self._call(_LOGIN, "CurrentUser", name=name, password=password)

    async def purchase(self) -> None:
        """Order one piece and pay; raises BenchFailed unless the payment is settled."""
        await self._call(_ADD, "Order", id=_VARIANT)
        await self._call(_ADDRESS, "Order", input={"streetLine1": "Moremi Hall", "city": "Lagos", "countryCode": "NG"})
        methods = await self._call(_METHODS)
        await self._call(_METHOD, "Order", ids=[methods["eligibleShippingMethods"][0]["id"]])
        await self._call(_ARRANGE, "Order")
        paid = await self._call(_PAY, "Order", input={"method": "card", "metadata": {}})
        if paid["addPaymentToOrder"]["state"] != "PaymentSettled":
            raise BenchFailed(f"Vendure did not settle the payment: {paid}")

    async def spent(self) -> Mapping[str, float]:
        """Seconds of CPU of its processes and of its connections' processes."""
        found = {f"process {pid}": seconds for pid, seconds in tree_seconds(self.pids).items()}
        rows = await self.administrator.fetch("SELECT pid FROM pg_stat_activity WHERE datname = $1", _DATABASE)
        for (pid,) in rows:
            with contextlib.suppress(psutil.NoSuchProcess):
                found[f"backend {pid}"] = own_seconds(pid)
        return found

    async def _call(self, query: str, expected: str = "", **variables: object) -> Any:
        response = await self.http.post("/shop-api", json={"query": query, "variables": variables})
        if token := response.headers.get("vendure-auth-token"):
            self.http.headers["Authorization"] = f"Bearer {token}"
        body = response.json()
        data = body.get("data")
        if not data or (expected and next(iter(data.values()))["__typename"] != expected):
            raise BenchFailed(f"Vendure refused {query}: {body}")
        return data


async def measure(bench: BenchEnvironment) -> list[Row]:
    """Return the cost of a purchase, with Vendure's as its limit."""
    system = RunningSystem.at(bench.system.state_dir, bench.system.port_base)
    counters, market = await Counters.open(system), system.market()
    try:
        async with _running(bench, system) as vendure:
            trade = await Trade.open(market, counters.administrator, stock=1_000_000)

            async def own_seconds_between(began: Any) -> float:
                return sum(cpu_between(began, await counters.spent()).values())

            async def peer_seconds_between(began: Mapping[str, float]) -> float:
                ended = await vendure.spent()
                return sum(seconds - began.get(name, 0.0) for name, seconds in ended.items())

            await vendure.sign_in()
            for _ in range(_WARM):
                await trade.purchase()
                await vendure.purchase()
            own, peer = list[_Sample](), list[_Sample]()
            for _ in range(bench.effort.rounds):
                own.append(await _sample(bench, trade.purchase, counters.spent, own_seconds_between))
                peer.append(await _sample(bench, vendure.purchase, vendure.spent, peer_seconds_between))
    finally:
        await market.close()
        await counters.close()
    ratio = statistics.median(theirs.cpu_ms / ours.cpu_ms for ours, theirs in zip(own, peer, strict=True))
    goal = Goal("ratio", 6, at_least=True)
    return [
        Row("purchase, beside Vendure", "Vendure", _figures(own), _figures(peer), ratio=ratio, goals=(goal,)),
    ]


@dataclass(frozen=True, slots=True)
class _Sample:
    """One round without the idle share."""

    cpu_ms: float
    times_ms: list[float]


async def _sample(
    bench: BenchEnvironment,
    purchase: Callable[[], Awaitable[Any]],
    spent: Callable[[], Awaitable[Any]],
    seconds_since: Callable[[Any], Awaitable[float]],
) -> _Sample:
    """Purchase one after the other, and let what follows them end; then the rest gives the idle share."""
    count, times, began, started = bench.effort.purchases, [], await spent(), time.monotonic()
    for _ in range(count):
        sent = time.perf_counter()
        await purchase()
        times.append((time.perf_counter() - sent) * 1000)
    await asyncio.sleep(_REST_SECONDS)
    busy, lasted = await seconds_since(began), time.monotonic() - started
    resting, rested = await spent(), time.monotonic()
    await asyncio.sleep(_REST_SECONDS)
    idle = await seconds_since(resting) / (time.monotonic() - rested)
    return _Sample((busy - idle * lasted) * 1000 / count, times)


def _figures(samples: list[_Sample]) -> Figures:
    times = [one for sample in samples for one in sample.times_ms]
    return Figures(
        p50_ms=percentile(times, 0.5),
        p99_ms=percentile(times, 0.99),
        cpu_us=statistics.median(sample.cpu_ms for sample in samples) * 1000,
    )


@asynccontextmanager
async def _running(bench: BenchEnvironment, system: RunningSystem) -> AsyncIterator[_Vendure]:
    """Install, fill and start Vendure on a database of the system's server."""
    if shutil.which("npm") is None:
        raise BenchFailed("Vendure needs Node 20.19 or newer with npm (https://nodejs.org).")
    bench.log("installing Vendure")
    await asyncio.to_thread(subprocess.run, ["npm", "ci", "--ignore-scripts", "--silent"], cwd=_FOLDER, check=True)
    administrator = await asyncpg.connect(system.secrets["DATABASE_URL"])
    await administrator.execute(f"CREATE DATABASE {_DATABASE}")
    ports = [bench.next_port(), bench.next_port()]
    environment = {
        "PATH": os.environ["PATH"],
        "NODE_ENV": "production",
        "STATE_DIR": str(bench.system.state_dir),
        "DATABASE_URL": urlsplit(system.secrets["DATABASE_URL"])._replace(path=f"/{_DATABASE}").geturl(),
        "PEER_PASSWORD": secrets.token_urlsafe(16),
    }
    log = bench.system.state_dir / "logs" / "vendure.log"
    children = []
    try:
        with open_log(log) as output:

            def start(role: str, port: int) -> "subprocess.Popen[bytes]":
                command, variables = ["node", "server.mjs", role], environment | {"PORT": str(port)}
                return spawn(command, environment=variables, output=output, directory=_FOLDER)

            filling = start("populate", ports[0])
            if await asyncio.to_thread(filling.wait) != 0:
                raise BenchFailed(f"Vendure made no tables:\n{log.read_text()[-3000:]}")
            children = [start(role, port) for role, port in zip(("server", "worker"), ports, strict=True)]
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{ports[0]}", timeout=60, trust_env=False) as http:
            await _until_ready(http, log)
            yield _Vendure(http, tuple(child.pid for child in children), administrator)
    finally:
        for child in children:
            await asyncio.to_thread(stop_child, child)
        await administrator.close()


async def _until_ready(http: httpx.AsyncClient, log: Path) -> None:
    deadline = time.monotonic() + _READY_SECONDS_MAX
    while time.monotonic() < deadline:
        with contextlib.suppress(httpx.TransportError):
            if (await http.get("/health")).is_success:
                return
        await asyncio.sleep(0.5)
    raise BenchFailed(f"Vendure does not become ready:\n{log.read_text()[-3000:]}")
