"""The same story against the sandbox's payment gateway with its own book: what it signs we take, what it holds is what we hold."""

import asyncio
import random
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest_asyncio
import uvicorn

from campus_tools.service_kit import served
from campus_tools.testing import eventually
from common.ids import new_id
from common.process import http_app
from contracts.orders import RefundRequested
from payments.app import SERVICE
from sandbox.app import create_app
from sandbox.settings import read_settings

SECRET = "sk_test_current"


class Forwarding:
    """The address that the sandbox calls before the service behind it is open."""

    def __init__(self) -> None:
        self.app: Any = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.app(scope, receive, send)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest_asyncio.fixture(loop_scope="session")
async def sandboxed(
    tmp_path: Path, fresh_database: Any, broker_url: str, story_on: Any
) -> AsyncIterator[tuple[Any, httpx.AsyncClient]]:
    """A story whose gateway is the sandbox, and a client of the sandbox."""
    door, port = Forwarding(), _free_port()
    async with served(door) as address:
        settings = read_settings(
            {
                "PORT": str(port),
                "SMTP_PORT": str(_free_port()),
                "STATE_DIR": str(tmp_path / "sandbox"),
                "GATEWAY_SECRET_KEY": SECRET,
                "WEBHOOK_URL": f"{address}/functions/v1/gateway-webhook",
                "MESSAGING_WEBHOOK_URL": "http://127.0.0.1:9/messaging",
                "MESSAGING_APP_SECRET": "secret",
                "BASE_URL": f"http://127.0.0.1:{port}",
            }
        )
        server = uvicorn.Server(
            uvicorn.Config(create_app(settings), host="127.0.0.1", port=port, log_config=None, access_log=False)
        )
        serving = asyncio.create_task(server.serve())
        await eventually(lambda: server.started, within=30)
        url = f"{settings.base_url}/gateway"
        async with (
            story_on(await fresh_database("payments"), broker_url, gateway_api_url=url) as story,
            httpx.AsyncClient(base_url=settings.base_url, headers={"Authorization": f"Bearer {SECRET}"}) as client,
        ):
            door.app = http_app(SERVICE, story.service.settings, story.service.runtime, story.service.dependencies)
            yield story, client
        server.should_exit = True
        await serving


async def _webhook(story: Any, event_type: str) -> None:
    """Waits for the sandbox's next webhook of this type, and does its work."""

    async def came() -> bool:
        rows = await story.service.fetch(
            "SELECT 1 FROM processed_webhook_events WHERE event_type = $1 AND outcome = 'queued'", event_type
        )
        return bool(rows)

    await eventually(came, within=30)
    await story.service.work("payments.webhooks")


async def test_a_payment_and_its_refund_through_the_sandbox_leave_both_books_alike(
    sandboxed: tuple[Any, httpx.AsyncClient],
) -> None:
    story, sandbox = sandboxed
    placed = await story.place_order()
    intent = await story.open_intent(placed.order_id)
    paid = await sandbox.post(intent["authorizationUrl"], data={"action": "pay", "channel": "card"})
    assert paid.status_code < 400, paid.text
    await _webhook(story, "charge.success")
    assert await story.order_status(placed.order_id) == "paid_escrow"
    gateway = story.service.dependencies.gateway
    assert await gateway.balance_minor("NGN") == (await story.balances())["gateway_cash"] == 500_000
    found = await gateway.find_transaction(intent["reference"])
    assert (found["status"], found["amount"]) == ("success", 500_000)

    refund_id = new_id()
    await story.service.hear(
        RefundRequested(
            order_id=placed.order_id,
            refund_id=refund_id,
            buyer_id=placed.buyer_id,
            vendor_id=placed.vendor_id,
            amount_minor=200_000,
            reason="cancelled",
        )
    )
    await story.service.work("payments.refunds")
    await _webhook(story, "refund.processed")
    [settled] = await story.service.published("payments.refund_settled.v1")
    assert settled["refundId"] == str(refund_id)
    assert await gateway.balance_minor("NGN") == (await story.balances())["gateway_cash"] == 300_000
    await story.check_books()


async def test_the_sandboxs_list_shows_our_note_on_a_refund(sandboxed: tuple[Any, httpx.AsyncClient]) -> None:
    story, sandbox = sandboxed
    gateway = story.service.dependencies.gateway
    placed = await story.place_order()
    intent = await story.open_intent(placed.order_id)
    await sandbox.post(intent["authorizationUrl"], data={"action": "pay", "channel": "card"})
    await _webhook(story, "charge.success")
    [charge] = await story.service.fetch("SELECT gateway_id FROM charges")
    note = f"re-{random.randbytes(16).hex()}"
    told = await gateway.start_refund(transaction=charge["gateway_id"], amount_minor=7, currency="NGN", note=note)
    listed = await gateway.list_refunds(charge["gateway_id"])
    assert [(entry["id"], entry["merchant_note"]) for entry in listed] == [(told["id"], note)]
    shown = await gateway.find_refund(str(told["id"]))
    assert shown["amount"] == 7
    assert await gateway.find_refund("424242") is None
