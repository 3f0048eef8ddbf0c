"""A purchase reaches its vendor's webhook endpoint and no other vendor's (contract section 9.5)."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from aiohttp import web

from operations.journey import Marketplace, SignedInUser
from testkit.fixtures import eventually
from tests.end_to_end.steps import paid_order

from .conftest import Users

ENDPOINTS = "/api/webhook-endpoints"
PLACED, HELD = "orders.order_placed.v1", "payments.escrow_held.v1"


@dataclass
class Receiver:
    """A vendor's server on this machine: the received requests, and the number of first calls that get 500."""

    url: str = ""
    received: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    failures: int = 0

    async def receive(self, request: web.Request) -> web.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.received.append((headers, await request.read()))
        self.failures -= 1
        return web.Response(status=500 if self.failures >= 0 else 204)

    def of_order(self, order_id: str, event_type: str) -> list[tuple[dict[str, str], bytes]]:
        return [
            (headers, body)
            for headers, body in self.received
            if (content := json.loads(body))["type"] == event_type and content["data"]["orderId"] == order_id
        ]


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    receiver, app = Receiver(), web.Application()
    app.router.add_post("/{path:.*}", receiver.receive)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        receiver.url = f"http://127.0.0.1:{runner.addresses[0][1]}/campus"
        yield receiver
    finally:
        await runner.cleanup()


@asynccontextmanager
async def endpoint_of(
    market: Marketplace, owner: SignedInUser, receiver: Receiver, *types: str
) -> AsyncIterator[dict[str, Any]]:
    created = await market.post(ENDPOINTS, {"url": receiver.url, "eventTypes": list(types)}, owner)
    try:
        yield created
    finally:
        removed = await market.http.delete(f"{ENDPOINTS}/{created['id']}", headers=owner.headers)
        assert removed.status_code == 204


def assert_signed(headers: dict[str, str], body: bytes, secret: str) -> None:
    """Verify by Standard Webhooks: HMAC-SHA256 over `id.timestamp.body`, not older than five minutes."""
    assert abs(time.time() - int(headers["webhook-timestamp"])) < 300
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = hmac.digest(base64.b64decode(secret.removeprefix("whsec_")), signed, hashlib.sha256)
    assert f"v1,{base64.b64encode(expected).decode()}" in headers["webhook-signature"].split()


async def test_a_purchase_reaches_its_vendor_and_no_other(market: Marketplace, users: Users) -> None:
    async with receiving() as own, receiving() as other:
        # The first attempt of each event fails.
        own.failures = 2
        async with (
            endpoint_of(market, users.vendor, own, PLACED, HELD) as endpoint,
            endpoint_of(market, users.other_vendor, other, PLACED, HELD),
        ):
            order_id = (await paid_order(market, users))["id"]
            await eventually(lambda: own.of_order(order_id, HELD) and own.of_order(order_id, PLACED))
            path = f"{ENDPOINTS}/{endpoint['id']}"

            async def all_are_delivered() -> bool:
                rows = await market.get(f"{path}/deliveries", users.vendor)
                return len(rows) >= 2 and {row["status"] for row in rows} == {"delivered"}

            # The first retry follows after five seconds.
            await eventually(all_are_delivered)
            for headers, body in own.received:
                assert_signed(headers, body, endpoint["secret"])
            held = json.loads(own.of_order(order_id, HELD)[0][1])
            assert set(held) == {"type", "timestamp", "data"}
            assert held["data"]["orderId"] == order_id
            event_id = own.of_order(order_id, HELD)[0][0]["webhook-id"]
            assert UUID(event_id)
            before = len(own.of_order(order_id, HELD))
            await market.post(f"{path}/replay", {"eventId": event_id}, users.vendor)
            await eventually(lambda: len(own.of_order(order_id, HELD)) == before + 1)
            assert {headers["webhook-id"] for headers, _ in own.of_order(order_id, HELD)} == {event_id}
            assert other.received == []


async def test_a_created_endpoint_s_secret_is_never_stored_by_the_edge(market: Marketplace, users: Users) -> None:
    """An Idempotency-Key is ignored where the response holds a secret."""
    async with receiving() as receiver:
        body = {"url": receiver.url, "eventTypes": [PLACED]}
        headers = {**users.vendor.headers, "Idempotency-Key": str(uuid4())}
        created = [(await market.http.post(ENDPOINTS, json=body, headers=headers)).json()["data"] for _ in range(2)]
        assert created[0]["id"] != created[1]["id"]
        listed = await market.get(ENDPOINTS, users.vendor)
        assert {endpoint["id"] for endpoint in created} <= {row["id"] for row in listed}
        assert not any("secret" in row for row in listed)
        for endpoint in created:
            removed = await market.http.delete(f"{ENDPOINTS}/{endpoint['id']}", headers=users.vendor.headers)
            assert removed.status_code == 204
