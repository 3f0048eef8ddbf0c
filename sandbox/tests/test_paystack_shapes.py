"""The sandbox's responses and webhooks about transfers, recipients, banks and the balance have Paystack's shape."""

import json
from urllib.parse import urlsplit

import pytest

from testkit.fixtures import eventually
from testkit.providers.paystack import checking

from .conftest import Receiver, Sandbox

RECIPIENT = {"type": "nuban", "name": "Ada Obi", "account_number": "0123456785", "bank_code": "058", "currency": "NGN"}
REFERENCE = "po-" + "0" * 32


@pytest.fixture
async def funded(sandbox: Sandbox):
    await sandbox.charge("funds", 500_000)
    await sandbox.settings_are(transfer_settlement="manual", transfer_fees="standard")
    return sandbox


async def call(sandbox: Sandbox, method, path, **arguments):
    """Make a call whose response must conform. Returns its status and its `data`."""
    response = await sandbox.client.request(method, f"/gateway{path}", **arguments)
    body = response.json()
    checking.check_response(method, urlsplit(path).path, response.status_code, body)
    return response.status_code, body.get("data")


async def transfer(sandbox: Sandbox, reference=REFERENCE, **changes):
    _, recipient = await call(sandbox, "POST", "/transferrecipient", json=RECIPIENT)
    body = {"source": "balance", "amount": 100_000, "currency": "NGN", "reason": "Payout", "reference": reference}
    return await call(sandbox, "POST", "/transfer", json={**body, "recipient": recipient["recipient_code"], **changes})


STATES = [([], "pending"), (["succeed"], "success"), (["fail"], "failed"), (["succeed", "reverse"], "reversed")]


@pytest.mark.parametrize(("actions", "status"), STATES)
async def test_a_transfer_has_paystacks_shape_in_every_state(funded, actions, status: str) -> None:
    assert (await transfer(funded))[0] == 200
    for action in actions:
        response = await funded.client.post(f"/control/transfers/{REFERENCE}/{action}", json={"reason": "Timed out"})
        assert response.status_code == 200
    _, verified = await call(funded, "GET", f"/transfer/verify/{REFERENCE}")
    _, [listed] = await call(funded, "GET", "/transfer")
    assert (verified["status"], listed["status"], verified["reason"]) == (status, status, "Payout")
    assert verified["gateway_response"] == ("Timed out" if status in ("failed", "reversed") else None)


async def test_the_events_of_transfers_have_paystacks_shape(funded, receiver: Receiver) -> None:
    for number, actions in enumerate((["succeed", "reverse"], ["fail"])):
        reference = f"po-{number:032d}"
        await transfer(funded, reference)
        for action in actions:
            await funded.client.post(f"/control/transfers/{reference}/{action}", json={})
    await eventually(lambda: all(receiver.events(f"transfer.{name}") for name in ("success", "failed", "reversed")))
    events = [json.loads(raw) for _, raw in receiver.received]
    events = [event for event in events if event["event"].startswith("transfer.")]
    assert len(events) == 3
    for event in events:
        checking.check_event(event)


async def test_an_otp_transfer_has_paystacks_shape(funded) -> None:
    await funded.settings_are(transfer_settlement="otp")
    _, waiting = await transfer(funded)
    assert waiting["status"] == "otp"
    body = {"transfer_code": waiting["transfer_code"], "otp": "928783"}
    assert (await call(funded, "POST", "/transfer/finalize_transfer", json=body))[0] == 200


async def test_banks_balance_and_resolution_have_paystacks_shape(funded) -> None:
    for path in (
        "/balance",
        "/bank",
        "/bank?use_cursor=true&perPage=10",
        "/bank/resolve?account_number=0123456785&bank_code=058",
    ):
        assert (await call(funded, "GET", path))[0] == 200


async def test_errors_have_paystacks_shape(funded) -> None:
    assert (await call(funded, "GET", "/bank/resolve?account_number=0000000000&bank_code=058"))[0] == 422
    assert (await call(funded, "GET", "/transfer/verify/po-unknown"))[0] == 404
    assert (await transfer(funded, amount=10**9))[0] == 400
    headers = {"Authorization": "Bearer sk_wrong"}
    for method, path in (("GET", "/balance"), ("GET", "/bank"), ("POST", "/transfer"), ("POST", "/transferrecipient")):
        assert (await call(funded, method, path, headers=headers))[0] == 401
