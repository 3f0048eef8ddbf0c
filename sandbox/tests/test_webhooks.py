import pytest

from sandbox.webhook_sender import ATTEMPTS_MAX, retry_delay_seconds
from testkit.fixtures import eventually

from .conftest import Receiver, Sandbox


async def test_a_failed_webhook_is_retried_and_each_attempt_recorded(sandbox: Sandbox, receiver: Receiver) -> None:
    receiver.responses = [500]
    await sandbox.charge("order-1")
    await eventually(lambda: len(receiver.events()) == 2)

    async def delivered():
        return await sandbox.webhooks(reference="order-1", status="delivered")

    [webhook] = await eventually(delivered)
    assert [attempt["status_code"] for attempt in webhook["attempts"]] == [500, 200]


@pytest.mark.parametrize(
    ("attempts", "seconds"), [(1, 1.0), (2, 2.0), (3, 5.0), (4, 10.0), (5, 30.0), (71, 30.0), (ATTEMPTS_MAX, None)]
)
def test_the_delays_between_attempts_grow_and_end(attempts, seconds: float | None) -> None:
    assert retry_delay_seconds(attempts) == seconds


async def test_any_body_can_be_signed_and_sent_in_copies(sandbox: Sandbox, receiver: Receiver) -> None:
    raw = b'{"event":"charge.success", "data":{"reference":"forged", "amount": 1}}'
    sent = await sandbox.client.post("/control/webhooks/send", params={"copies": 3}, content=raw)
    assert (sent.status_code, len(sent.json()["ids"])) == (202, 3)
    await eventually(lambda: len(receiver.received) == 3)
    assert {body for _, body in receiver.received} == {raw}
    await sandbox.client.post("/control/webhooks/send", content=b"\xff no json")
    await eventually(lambda: len(receiver.received) == 4)
    assert (await sandbox.client.post("/control/webhooks/send", params={"copies": 0}, content=raw)).status_code == 400


async def test_a_hundred_webhooks_are_delivered(sandbox: Sandbox, receiver: Receiver) -> None:
    for number in range(100):
        await sandbox.charge(f"order-{number}", 1_000 + number)
    await eventually(lambda: len(receiver.events()) == 100)
    assert {event["data"]["reference"] for event in receiver.events()} == {f"order-{number}" for number in range(100)}


async def test_sent_webhooks_can_be_repeated_since_an_instant(sandbox: Sandbox, receiver: Receiver) -> None:
    await sandbox.charge("order-1")
    await eventually(lambda: len(receiver.events()) == 1)
    await sandbox.fault(charge_webhook={"drop": True})
    await sandbox.charge("order-2")
    again = "/control/webhooks/resend"
    future = await sandbox.client.post(again, params={"since": "2999-01-01T00:00:00Z"})
    assert (future.status_code, future.json()) == (202, {"count": 0})
    sent = await sandbox.client.post(again, params={"since": "2020-01-01T00:00:00Z"})
    assert (sent.status_code, sent.json()) == (202, {"count": 1})
    await eventually(lambda: [event["data"]["reference"] for event in receiver.events()] == ["order-1", "order-1"])
    assert (await sandbox.client.post(again)).status_code == 400
    assert (await sandbox.client.post(again, params={"since": "yesterday"})).status_code == 400
