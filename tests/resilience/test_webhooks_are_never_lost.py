"""The intake of webhooks during an outage: a 200 has its effect, and a webhook that cannot be stored gets 503."""

import asyncio
import hmac
import itertools
import json
import time
from pathlib import Path

import asyncpg
import httpx
import pytest

from campus_tools.launcher.system import System
from lab.histories.recording import History
from lab.soak.webhooks import Load, soak_webhooks
from lab.systems import clients_of, rows_of
from operations.audit import findings_of
from operations.journey import Marketplace
from testkit.fixtures import eventually

pytestmark = pytest.mark.long

PATH = "/functions/v1/gateway-webhook"
# The short form of what `python -m lab.soak webhooks` proves with ten thousand.
SHORT = Load(count=250, rate=50.0, kills=2)
OUTAGE_SECONDS = 5.0
EVERY_SECONDS = 0.05
_numbers = itertools.count(800_000_000)


async def send(system: System, client: httpx.AsyncClient, number: int) -> int:
    """Return a signed event without a meaning of its own: its effect is that it is seen and put aside."""
    body = json.dumps({"event": "paymentrequest.pending", "data": {"id": number}}).encode()
    secret = system.secrets["GATEWAY_SECRET_KEY"].split(",", 1)[0].encode()
    headers = {"x-gateway-signature": hmac.digest(secret, body, "sha512").hex(), "Content-Type": "application/json"}
    return (await client.post(PATH, content=body, headers=headers)).status_code


async def send_until(
    system: System, client: httpx.AsyncClient, over: asyncio.Event, responses: dict[int, int]
) -> dict[int, int]:
    """One webhook after the other until the outage is over: the response to each."""
    while not over.is_set():
        number = next(_numbers)
        responses[number] = await send(system, client, number)
        await asyncio.sleep(EVERY_SECONDS)
    return responses


async def outcomes(system: System, numbers: list[int]) -> list[str]:
    """Return the outcome of each of these webhooks that is stored."""
    ids = [f"paymentrequest.pending:{number}" for number in numbers]
    rows = await rows_of(
        system, "payments", "SELECT outcome FROM processed_webhook_events WHERE id = ANY ($1::text[])", ids
    )
    return [row["outcome"] for row in rows]


async def recorded(system: System, numbers: list[int]) -> bool:
    """Return whether each of these webhooks is stored once and processed."""
    assert await outcomes(system, numbers) == ["ignored"] * len(numbers)
    return True


async def set_read_only(system: System, setting: str) -> None:
    """Cut off the service's connections: settings of a database hold for new ones."""
    connection = await asyncpg.connect(system.servers.postgresql.url)
    try:
        await connection.execute(f"ALTER DATABASE campus_payments SET default_transaction_read_only = {setting}")
        await connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'campus_payments' "
            "AND usename LIKE 'campus_payments%'"
        )
    finally:
        await connection.close()


async def test_webhooks_at_a_rate_have_their_effects_once_despite_a_killed_worker(
    system: System, tmp_path: Path
) -> None:
    async with clients_of(system, History(tmp_path / "history.jsonl", "client")) as market:
        report = await soak_webhooks(system, market, SHORT, lambda _: None)
    assert report.holds, "\n".join(f"{name}: {value}" for name, value in report.rows.items())
    assert report.rows["webhooks answered 200"] == str(SHORT.count)
    assert report.rows["payments' worker killed"] == f"{SHORT.kills} times"


async def test_without_the_broker_webhooks_are_kept_and_have_their_effects_when_it_is_back(
    system: System, market: Marketplace
) -> None:
    over = asyncio.Event()
    sending = asyncio.ensure_future(send_until(system, market.http, over, {}))
    await asyncio.to_thread(system.servers.rabbitmq.kill)
    began = time.monotonic()
    await eventually(lambda: time.monotonic() - began > OUTAGE_SECONDS)
    over.set()
    responses = await sending
    await asyncio.to_thread(system.servers.rabbitmq.start)
    assert set(responses.values()) == {200}
    await eventually(lambda: recorded(system, list(responses)), within=60, every=0.2)


async def test_a_read_only_database_is_reported_and_no_acknowledged_webhook_is_lost(
    system: System, market: Marketplace
) -> None:
    over, received = asyncio.Event(), dict[int, int]()
    sending = asyncio.ensure_future(send_until(system, market.http, over, received))
    try:
        await set_read_only(system, "on")
        began, first = time.monotonic(), next(_numbers)
        await eventually(lambda: 503 in received.values() and time.monotonic() - began > OUTAGE_SECONDS)
        # A webhook that is stored although its response is 503 would be rejected as a repetition.
        assert await outcomes(system, [number for number in received if number > first]) == []
    finally:
        await set_read_only(system, "off")
    over.set()
    responses = await sending
    assert set(responses.values()) <= {200, 503}
    refused = [number for number, status in responses.items() if status == 503]
    assert refused

    async def sent_again() -> bool:
        # As the gateway does: until the response is 200.
        while refused:
            assert await send(system, market.http, refused[0]) == 200
            refused.pop(0)
        return True

    await eventually(sent_again, within=60, every=0.2)
    await eventually(lambda: recorded(system, list(responses)), within=120, every=0.2)
    assert await findings_of(system.secrets, market.sandbox, settle_seconds=60) == []
