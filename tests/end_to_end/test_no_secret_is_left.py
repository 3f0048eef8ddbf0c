"""After a purchase with its PIN and a sign-in with a code, only the telephone has either of them (contract section 12).

The test searches the logs of every process and server, every row of every database, the queues of the broker, every
published event, and the traces. The sandbox's inbox is the telephone.
"""

import json
import re
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from typing import Any
from uuid import uuid4

import aio_pika
import httpx

from campus_tools.launcher.system import System
from operations.journey import Marketplace
from testkit.fixtures import eventually
from tests.end_to_end.conftest import Users
from tests.end_to_end.steps import a_product, rows_with

HAD_A_SECRET = {"api-gateway", "identity-api", "orders-api", "orders-worker", "notifications-worker"}
PEEK = {"count": 1000, "ackmode": "ack_requeue_true", "encoding": "auto"}


def pattern_of(secret: str) -> str:
    """Return the secret by itself, not as a part of a longer number or word; or its bytes in hexadecimal digits."""
    return rf"(^|[^0-9A-Za-z.-]){re.escape(secret)}($|[^0-9A-Za-z])|{secret.encode().hex()}"


@asynccontextmanager
async def received_events(system: System) -> AsyncIterator[list[bytes]]:
    """Yield a copy of every event that is published in the meantime, internal and public, with its headers."""
    connection = await aio_pika.connect(system.secrets["BROKER_URL"])
    channel = await connection.channel()
    tap = await channel.declare_queue(exclusive=True)
    received: list[bytes] = []
    for exchange in ("campus.events", "campus.public"):
        await tap.bind(exchange, "#")

    async def keep(message: Any) -> None:
        received.append(message.body + repr(message.headers).encode())

    await tap.consume(keep, no_ack=True)
    try:
        yield received
    finally:
        await connection.close()


async def code_on_the_phone(market: Marketplace, phone: str, before: str, length: int) -> str:
    """Return the newest code on a phone, after this text."""

    async def probe() -> str | None:
        for message in await market.messages(phone, "sms"):
            if found := re.search(rf"{before}([0-9]{{{length}}})\b", message["text"]):
                return found[1]
        return None

    return await market.until(f"a message to {phone}", probe, 60)


async def play(market: Marketplace, users: Users) -> tuple[str, dict[str, str], int]:
    """Return a purchase and a sign-in: the order's id, the secrets, and when the PIN was shown (nanoseconds since
    1970). Each finds its provider unavailable at first."""
    phone = f"+234803{uuid4().int % 10**7:07d}"
    fault = {"sms": {"error_before": True, "times": 3, "match": phone}}
    (await market.sandbox.put("/control/faults", json=fault)).raise_for_status()
    buyer = await market.sign_up(f"quiet.{uuid4().hex}@unilag.edu.ng", "Quiet Buyer", phone)
    await market.post("/api/auth/otp", {"phone": phone}, buyer)
    code = await code_on_the_phone(market, phone, "Campus: ", 6)
    wrong = await market.http.post(
        "/api/auth/otp/verify", json={"phone": phone, "code": f"{(int(code) + 1) % 10**6:06d}"}
    )
    assert wrong.status_code == 422
    await market.post("/api/auth/otp/verify", {"phone": phone, "code": code}, buyer)
    order = await market.checkout(buyer, (await a_product(market))["id"])
    await market.pay(await market.pay_intent(buyer, order["id"]))
    await market.order_reaches(buyer, order["id"], "paid_escrow")
    pin = await market.delivery_pin(buyer, order["id"])
    assert await code_on_the_phone(market, phone, " is ", len(pin)) == pin
    await market.dispatch(users.vendor, order["id"])
    mistyped = f"{(int(pin) + 1) % 10 ** len(pin):0{len(pin)}d}"
    path, shown_at = f"/api/orders/{order['id']}/verify-delivery", time.time_ns()
    headers = {**users.vendor.headers, "Idempotency-Key": str(uuid4())}
    assert (await market.http.post(path, json={"pin": mistyped}, headers=headers)).status_code == 400
    await market.verify_delivery(users.vendor, order["id"], pin)
    await market.order_reaches(buyer, order["id"], "paid")
    await market.get("/api/profiles/current", buyer)
    return order["id"], {"the PIN": pin, "the code": code, "a PIN that was mistyped": mistyped}, shown_at


def logs_of(system: System) -> Iterator[tuple[str, str]]:
    for path in sorted(system.state_dir.rglob("*.log*")):
        if path.is_file():
            yield str(path.relative_to(system.state_dir)), path.read_text(errors="replace")


async def waiting_messages(system: System) -> list[str]:
    """Return the messages in the broker's queues, with delay queues and dead letters."""
    async with httpx.AsyncClient(base_url=system.servers.management_url, timeout=30, trust_env=False) as client:
        queues = (await client.get("/api/queues")).raise_for_status().json()
        assert any(queue["name"] == "notifications.deliveries.sms" for queue in queues)
        waiting = []
        for queue in queues:
            if queue.get("messages", 0) and not queue.get("exclusive"):
                name = f"/api/queues/{queue['vhost'].replace('/', '%2F')}/{queue['name']}/get"
                waiting += [json.dumps(one) for one in (await client.post(name, json=PEEK)).json()]
    return waiting


async def spans_of(system: System, shown_at: int) -> list[str]:
    """Every span that the sandbox received, once each process that handled a secret has exported a later one: a process
    exports its spans in their order, some seconds late."""
    [ledger] = system.state_dir.rglob("sandbox.db")
    with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as connection:

        def probe() -> bool:
            later = connection.execute("SELECT DISTINCT service FROM spans WHERE started_nanoseconds > ?", (shown_at,))
            return {name for (name,) in later} >= HAD_A_SECRET

        await eventually(probe, 60)
        return [repr(row) for row in connection.execute("SELECT * FROM spans")]


async def test_no_pin_or_code_of_a_run_is_in_any_log_table_queue_event_or_trace(
    market: Marketplace, users: Users, system: System
) -> None:
    found = await where_a_secret_stands(market, users, system)
    if found:
        # An amount, a size or the number of a process may have the six digits of a PIN. A match by chance does not do
        # so twice; what is exported there is exported again.
        found &= await where_a_secret_stands(market, users, system)
    assert found == set()


async def where_a_secret_stands(market: Marketplace, users: Users, system: System) -> set[tuple[str, str]]:
    """Run the journey once, and return where its secrets are found."""
    async with received_events(system) as received:
        order_id, secrets, shown_at = await play(market, users)
    output = b"\n".join(received).decode(errors="replace")
    logs, waiting = dict(logs_of(system)), await waiting_messages(system)
    spans = await spans_of(system, shown_at)
    # The search works: it finds this.
    assert await rows_with(system, order_id)
    assert order_id in output
    assert "pinSealed" in output
    assert "codeSealed" in output
    assert any("/api/orders" in span for span in spans)
    assert "message failed" in logs["logs/notifications-worker.log"]
    texts = {**logs, "the events": output, "the queues": "\n".join(waiting), "the traces": "\n".join(spans)}
    found = set()
    for name, secret in secrets.items():
        pattern = pattern_of(secret)
        alone = re.compile(pattern)
        found |= {(name, place) for place, text in texts.items() if alone.search(text)}
        found |= {(name, row.partition(":")[0]) for row in await rows_with(system, pattern)}
    return found
