"""The JSON API for developers: waiting for messages, finding transactions, advancing the clock, and its document."""

import asyncio
import re
from typing import Any

import pytest
from openapi_spec_validator import validate

from sandbox.control.operations import OPERATIONS, PREFIX
from testkit.fixtures import eventually

from .conftest import Receiver, Sandbox, running_sandbox

TERMII = {"to": "2348012345678", "from": "Campus", "type": "plain", "channel": "dnd", "api_key": "k"}
HOUR = 3_600


async def send(sandbox: Sandbox, text: str) -> None:
    response = await sandbox.client.post("/sms/api/sms/send", json={**TERMII, "sms": text})
    assert response.status_code == 200, response.text


async def advance(sandbox: Sandbox, seconds: float) -> dict[str, Any]:
    response = await sandbox.client.post("/control/clock/advance", json={"seconds": seconds})
    assert response.status_code == 200, response.text
    return dict(response.json())


async def test_a_request_waits_for_the_message_after_a_known_one(sandbox: Sandbox) -> None:
    await send(sandbox, "old code")
    [known] = await sandbox.messages(to="+2348012345678", wait="60")
    waiting = asyncio.create_task(sandbox.messages(to="+2348012345678", after=str(known["id"]), wait="60"))
    assert await sandbox.messages(to="+2348012345678", after=str(known["id"])) == []
    assert not waiting.done()
    await send(sandbox, "new code")
    assert [message["text"] for message in await waiting] == ["new code"]


@pytest.mark.parametrize("query", ["wait=61", "wait=-1", "wait=x", "after=x"])
async def test_a_malformed_wait_is_rejected(sandbox: Sandbox, query: str) -> None:
    assert (await sandbox.client.get(f"/control/messages?{query}")).status_code == 400


async def test_transactions_are_found_by_state_and_buyer(sandbox: Sandbox) -> None:
    await sandbox.charge("paid")
    await sandbox.initialize("open", 700_000, email="other@unilag.edu.ng")

    async def found(**query: str) -> list[str]:
        return [one["reference"] for one in (await sandbox.client.get("/control/charges", params=query)).json()]

    assert await found() == ["open", "paid"]
    assert await found(limit="1") == ["open"]
    assert await found(status="success") == ["paid"]
    assert await found(status="abandoned", email="other@unilag.edu.ng") == ["open"]
    assert await found(status="abandoned", email="buyer@unilag.edu.ng") == []
    assert (await sandbox.client.get("/control/charges?status=paid")).status_code == 400
    [unpaid] = (await sandbox.client.get("/control/charges?status=abandoned")).json()
    assert (unpaid["amount"], unpaid["currency"]) == (700_000, "NGN")
    assert (await sandbox.client.get(unpaid["page"])).status_code == 200


async def test_an_advanced_clock_settles_transfers_and_refunds(sandbox: Sandbox, receiver: Receiver) -> None:
    await sandbox.settings_are(transfer_delay_seconds=HOUR, refund_delay_seconds=HOUR)
    await sandbox.charge("order-1", 500_000)
    await sandbox.transfer("po-0000000000000001", 100_000)
    await sandbox.client.post("/gateway/refund", json={"transaction": "order-1", "amount": 20_000})
    await advance(sandbox, HOUR / 2)
    assert await sandbox.transfer_status("po-0000000000000001") == "pending"
    due = await advance(sandbox, HOUR / 2)
    assert (due["transfers"], due["refunds"]) == (1, 1)
    await eventually(lambda: {"transfer.success", "refund.processed"} <= {one["event"] for one in receiver.events()})
    assert await sandbox.transfer_status("po-0000000000000001") == "success"


async def test_an_advanced_clock_sends_a_failed_webhook_again(sandbox: Sandbox, receiver: Receiver) -> None:
    receiver.responses = [500] * 4
    await sandbox.charge("order-1")

    async def attempts() -> int:
        [webhook] = await sandbox.webhooks(reference="order-1")
        return len(webhook["attempts"])

    for expected in range(1, 5):
        await eventually(lambda expected=expected: len(receiver.events()) == expected)

        async def recorded(expected: int = expected) -> bool:
            return await attempts() == expected

        await eventually(recorded)
        await advance(sandbox, 60)
    await eventually(lambda: len(receiver.events()) == 5)


async def test_an_advanced_clock_ends_a_chargeback_without_a_response(sandbox: Sandbox, receiver: Receiver) -> None:
    await sandbox.settings_are(dispute_hours=24)
    await sandbox.charge("order-1")
    dispute = (await sandbox.client.post("/control/charges/order-1/dispute")).json()
    assert (await advance(sandbox, 23 * HOUR))["disputes"] == 0
    assert (await advance(sandbox, HOUR))["disputes"] == 1
    await eventually(lambda: receiver.events("charge.dispute.resolve"))
    [resolved] = receiver.events("charge.dispute.resolve")
    assert (resolved["data"]["id"], resolved["data"]["resolution"]) == (dispute["id"], "auto-accepted")
    assert (await advance(sandbox, HOUR))["disputes"] == 0


@pytest.mark.parametrize("seconds", [0, -1, "60", True, None, 1e12])
async def test_a_malformed_time_changes_nothing(sandbox: Sandbox, seconds: object) -> None:
    response = await sandbox.client.post("/control/clock/advance", json={"seconds": seconds})
    assert response.status_code == 400


async def test_the_document_is_valid_and_names_each_operation(sandbox: Sandbox) -> None:
    document = (await sandbox.client.get("/openapi.json")).json()
    validate(document)
    described = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert described == {(one.method, PREFIX + one.path) for one in OPERATIONS}
    identifiers = [one["operationId"] for methods in document["paths"].values() for one in methods.values()]
    assert len(identifiers) == len(set(identifiers))


async def test_the_documented_commands_exist(sandbox: Sandbox) -> None:
    """An unknown act of an existing row is 404; a documented one is not."""
    await sandbox.charge("order-1")
    for act in ("pay", "decline", "dispute"):
        assert (await sandbox.client.post(f"/control/charges/order-1/{act}")).status_code != 404
    await sandbox.transfer("po-0000000000000001")
    for act in ("succeed", "fail", "reverse"):
        assert (await sandbox.client.post(f"/control/transfers/po-0000000000000001/{act}")).status_code != 404


@pytest.mark.parametrize(
    "operation",
    # A status needs the id of a message that was sent: test_messaging_platform.py.
    [one for one in OPERATIONS if one.body is not None and "{" not in one.path and "statuses" not in one.path],
    ids=lambda one: f"{one.method} {one.path}",
)
async def test_the_example_of_an_operation_is_accepted(sandbox: Sandbox, operation) -> None:
    response = await sandbox.client.request(operation.method, f"/control{operation.path}", json=operation.body)
    assert response.status_code < 400 or response.status_code == 409, response.text


async def test_names_of_users_survive_a_restart(environment: dict[str, str]) -> None:
    async with running_sandbox(environment) as running:
        await send(running, "hello")
        owner = {"name": "Ada", "addresses": ["+2348012345678"]}
        assert (await running.client.put("/control/people", json=owner)).status_code == 200
    async with running_sandbox(environment) as running:
        assert re.search(r"person=Ada\W", (await running.client.get("/inbox")).text)
