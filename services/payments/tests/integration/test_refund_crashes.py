"""A process killed between the decision, the call and the record of a refund: the sandbox pays exactly once."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from common.primitives.ids import new_id
from contracts.orders import RefundRequested
from payments.domain.errors import RefundOutcomeUnknown
from payments.timers import settle_refunds_once
from testkit.fixtures import eventually
from testkit.sandbox import GATEWAY_KEY

from .conftest import PaymentsApp

PROCESS = Path(__file__).with_name("refund_process.py")


async def _unsent_refund(app: PaymentsApp, sandbox: httpx.AsyncClient, amount_minor: int = 200_000) -> tuple[str, str]:
    """Return an unsent refund of an order paid at the sandbox: its id, and the reference of the charge."""
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    paid = await sandbox.post(intent["authorizationUrl"], data={"action": "pay", "channel": "card"})
    assert paid.status_code < 400, paid.text
    await app.webhook("charge.success")
    refund_id = new_id()
    parties = app.parties(placed)
    await app.receive(RefundRequested(**parties, refund_id=refund_id, amount_minor=amount_minor, reason="cancelled"))
    return str(refund_id), intent["reference"]


@asynccontextmanager
async def _sending(app: PaymentsApp, gateway_url: str, refund_id: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Yield a process that sends the refund, killed at the end of the block."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(PROCESS),
        app.urls.api,
        app.urls.service,
        gateway_url,
        GATEWAY_KEY,
        app.clock.now().isoformat(),
        refund_id,
    )
    try:
        yield process
        assert process.returncode is None, "it ended by itself, before it was killed"
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _status(app: PaymentsApp, refund_id: str) -> str:
    return str((await app.get_as(f"/api/refunds/{refund_id}"))["status"])


async def _process_refunds_again(app: PaymentsApp) -> None:
    """Deliver the message again, as the broker does after the death of a consumer."""
    await app.requeue()
    await app.work("payments.refunds")


async def _check_paid_once(app: PaymentsApp, refund_id: str, reference: str) -> None:
    await _process_refunds_again(app)
    gateway = app.paystack
    assert [update.amount_minor for update in await gateway.list_refunds(reference)] == [200_000]
    assert await _status(app, refund_id) == "settled"
    assert await gateway.balance_minor("NGN") == (await app.balances())["gateway_cash"] == 300_000
    await app.check_ledger()


async def test_killed_after_the_reference_is_written_and_before_the_call(
    sandbox_app: tuple[Any, httpx.AsyncClient],
) -> None:
    app, sandbox = sandbox_app
    refund_id, reference = await _unsent_refund(app, sandbox)
    # This gateway accepts connections and never reads: the call never reaches the sandbox.
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        deaf.setblocking(False)
        address = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        async with _sending(app, address, refund_id):
            connection, _ = await asyncio.wait_for(asyncio.get_running_loop().sock_accept(deaf), 60)
            assert await _status(app, refund_id) == "submitting"
        connection.close()

    # The next process queries the gateway, and waits before it sends again.
    with pytest.raises(RefundOutcomeUnknown):
        await _process_refunds_again(app)
    assert await app.paystack.list_refunds(reference) == []
    app.clock.advance(timedelta(seconds=121))
    await _process_refunds_again(app)
    await app.webhook("refund.processed")
    await _check_paid_once(app, refund_id, reference)


async def test_killed_after_the_gateway_has_accepted_and_before_the_record(
    sandbox_app: tuple[Any, httpx.AsyncClient],
) -> None:
    app, sandbox = sandbox_app
    refund_id, reference = await _unsent_refund(app, sandbox)
    # Neither the response nor the webhook reports what the sandbox did.
    await sandbox.put(
        "/control/faults", json={"refund_call": {"timeout": True, "times": 1}, "refund_webhook": {"drop": True}}
    )
    gateway = app.paystack

    async def accepted() -> bool:
        return len(await gateway.list_refunds(reference)) == 1

    async with _sending(app, app.settings.gateway_api_url, refund_id):
        await eventually(accepted)
        assert await _status(app, refund_id) == "submitting"

    # A refund that the gateway has is never sent again.
    app.clock.advance(timedelta(hours=1))
    for _ in range(2):
        await _process_refunds_again(app)

    async def processed() -> bool:
        return [update.status for update in await gateway.list_refunds(reference)] == ["processed"]

    await eventually(processed)
    app.clock.advance(timedelta(hours=1))
    await settle_refunds_once(app.dependencies)
    await _check_paid_once(app, refund_id, reference)
