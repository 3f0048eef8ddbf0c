"""The webhook endpoint: signature, one commit, 200 (contract section 9)."""

import asyncio
import json
from dataclasses import astuple

import pytest
from pydantic import TypeAdapter, ValidationError

from common.observability.telemetry import PREVIOUS_KEY_ACCEPTED
from common.process.settings import SignatureHeader
from payments.app import SERVICE
from testkit.fixtures import DatabaseFactory, eventually
from testkit.sandbox import Sandbox
from testkit.service_kit import opened

from .conftest import RELEASE_SIGNING_KEY, OpenApp, PaymentsApp, sign
from .steps import make_read_only

WEBHOOK = "/functions/v1/gateway-webhook"
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


async def test_fifty_identical_concurrent_webhooks_have_one_effect_and_each_gets_200(app: PaymentsApp) -> None:
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    body = app.charge(intent["reference"], 500_000)

    responses = await asyncio.gather(*(app.send(body) for _ in range(50)))

    assert [response.status_code for response in responses] == [200] * 50
    assert await app.work("payments.webhooks") == 1
    assert await app.balances() == {"gateway_cash": 500_000, f"escrow:{placed.order_id}": -500_000}
    assert len(await app.published("payments.escrow_held.v1")) == 1
    assert (await app.send(body)).status_code == 200
    assert await app.work("payments.webhooks") == 0


async def test_the_response_follows_the_commit_of_row_and_work_item(app: PaymentsApp) -> None:
    handover = app.database.handover
    with handover.to_relay():
        # Its reference is missing, so that it is left to the worker.
        response = await app.send({"event": "charge.success", "data": {"id": 11}})
        await app.dependencies.webhooks.drain()
        [handed_over] = handover.pop(10)

    assert response.json()["success"] is True
    assert response.json()["meta"]["requestId"] == response.headers["x-request-id"]
    [row] = await app.fetch("SELECT * FROM processed_webhook_events")
    assert (row["id"], row["provider"], row["event_type"]) == ("charge.success:11", "payment_gateway", "charge.success")
    assert row["payload"] == {"event": "charge.success", "data": {"id": 11}}
    assert json.loads(bytes(row["raw"])) == row["payload"]
    assert row["outcome"] == "queued"
    [work] = await app.fetch(
        "SELECT id, queue, type, source, subject, payload, trace, sequence, created_at FROM outbox WHERE "
        "published_at IS NULL"
    )
    assert work["queue"] == "payments.webhooks"
    assert json.loads(bytes(work["payload"])) == {"webhookId": "charge.success:11"}
    assert astuple(handed_over) == tuple(work)


ODD_BODIES = [
    b"",
    b"null",
    b"0",
    b"[]",
    b'"charge.success"',
    b"not json at all",
    b"\x00\xff\xfe",
    b'{"event":"charge.success"}',
    b'{"event":"charge.success","data":[]}',
    b'{"event":"charge.success","data":{"amount":5}}',
    b'{"event":"charge.success","data":{"id":1,"amount":5,"currency":"NGN","metadata":0}}',
    b'{"event":"charge.success","data":{"id":2,"amount":5,"currency":"NGN","metadata":""}}',
    b'{"event":"charge.success","data":{"id":3,"amount":5,"currency":"NGN","metadata":[]}}',
    b'{"event":"charge.success","data":{"id":4,"amount":5,"reference":"a\\u0000b"}}',
    b'{"event":"charge.success","data":{"id":5,"amount":5,"note":"\\ud800"}}',
    b'{"event":"charge.success","data":{"id":6,"amount":5,"note":1e999999}}',
    b'{"event":"charge\\u0000.success","data":{"id":7}}',
    b'{"event":"charge.success","data":{"id":8,"deep":' + b"[" * 9_000 + b"]" * 9_000 + b"}}",
    b'{"event":"transfer.success","data":{"id":9,"integration":{"id":5},"recipient":"none"}}',
    b'{"event":"refund.processed","data":{"integration":{}}}',
    b'{"event":"subscription.create","data":{"id":10}}',
    b'{"event":{"nested":true},"data":{"id":11}}',
    b'{"event":"charge.success","data":{"id":"' + b"x" * 60_000 + b'"}}',
]


async def test_every_correctly_signed_body_gets_200_and_is_stored_unchanged(app: PaymentsApp) -> None:
    for body in ODD_BODIES:
        first, again = await app.send(body), await app.send(body)
        assert (first.status_code, again.status_code) == (200, 200), body[:80]
    rows = await app.fetch("SELECT raw, outcome FROM processed_webhook_events")
    assert sorted(bytes(row["raw"]) for row in rows) == sorted(ODD_BODIES)
    assert {row["outcome"] for row in rows} == {"queued"}


async def test_unknown_events_and_odd_bodies_are_ignored_by_the_worker(app: PaymentsApp) -> None:
    for body in (
        b"[]",
        b"nonsense",
        b'{"event":"subscription.create","data":{"id":10}}',
        b'{"event":"charge.pending"}',
    ):
        await app.process_webhook(body)
    assert await app.outcomes() == ["ignored"] * 4
    assert await app.balances() == {}


def _refused_signatures(good: str) -> dict[str, str | None]:
    return {
        "missing": None,
        "empty": "",
        "uppercase": good.upper(),
        "127 characters": good[:-1],
        "129 characters": good + "0",
        "not hex": "g" + good[1:],
        "of another secret": "0" * 128,
    }


async def test_a_bad_signature_is_401_with_the_bare_body_and_records_nothing(app: PaymentsApp) -> None:
    raw = b'{"event":"charge.success","data":{"id":1}}'
    for name, signature in _refused_signatures(sign(raw)).items():
        headers = {} if signature is None else {"x-gateway-signature": signature}
        response = await app.client.post(WEBHOOK, content=raw, headers=headers)
        assert (response.status_code, response.json()) == (401, {"error": "Invalid signature"}), name
    changed = await app.client.post(WEBHOOK, content=raw + b" ", headers={"x-gateway-signature": sign(raw)})
    assert changed.status_code == 401
    assert await app.outcomes() == []


async def test_the_previous_secret_holds_during_a_rotation(app: PaymentsApp) -> None:
    counter = PREVIOUS_KEY_ACCEPTED.labels("gateway-secret-key")
    before = counter._value.get()
    response = await app.send({"event": "charge.success", "data": {"id": 1}}, secret="sk_test_previous")
    assert counter._value.get() - before == 1, "so that it is seen whether the gateway still signs with it"
    assert response.status_code == 200


async def test_without_a_secret_every_webhook_is_rejected(
    fresh_database: DatabaseFactory, broker_url: str, gateway: Sandbox
) -> None:
    urls = await fresh_database("payments")
    async with opened(
        SERVICE, urls, broker_url, gateway_api_url=gateway.url, release_signing_key=RELEASE_SIGNING_KEY
    ) as service:
        for secret in ("", "sk_test_current"):
            response = await service.client.post(
                WEBHOOK, content=b"{}", headers={"x-gateway-signature": sign(b"{}", secret)}
            )
            assert (response.status_code, response.json()) == (401, {"error": "Invalid signature"})


async def test_a_setting_names_the_header_of_the_signature(
    fresh_database: DatabaseFactory, broker_url: str, open_app: OpenApp
) -> None:
    raw = b'{"event":"charge.success","data":{"id":1}}'
    header = "x-paystack-signature"
    async with open_app(await fresh_database("payments"), broker_url, gateway_signature_header=header) as app:
        for name, status in ((header, 200), ("X-Paystack-Signature", 200), ("x-gateway-signature", 401)):
            response = await app.client.post(WEBHOOK, content=raw, headers={name: sign(raw)})
            assert response.status_code == status, name


@pytest.mark.parametrize("name", ["authorization", "x-user-id", "x-forwarded-for", "x signature", ""])
def test_no_other_header_can_be_named_for_the_signature(name: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(SignatureHeader).validate_python(name)


async def test_no_other_header_of_the_gateway_matters(app: PaymentsApp) -> None:
    raw = b'{"event":"charge.success","data":{"id":1}}'
    headers = {"x-gateway-signature": sign(raw), "authorization": "nonsense", "content-type": "text/plain"}
    assert (await app.client.post(WEBHOOK, content=raw, headers=headers)).status_code == 200


async def test_a_body_over_one_mebibyte_is_413(app: PaymentsApp) -> None:
    response = await app.send(b"x" * (1024 * 1024 + 1))
    assert (response.status_code, response.json()["code"]) == (413, "VALIDATION_FAILED")
    assert (await app.send(b"x" * (1024 * 1024))).status_code == 200


async def test_another_method_is_405(app: PaymentsApp) -> None:
    response = await app.client.get(WEBHOOK)
    assert (response.status_code, response.headers["allow"], response.json()["code"]) == (
        405,
        "POST",
        "VALIDATION_FAILED",
    )


async def test_a_crash_of_the_intake_stores_nothing(app: PaymentsApp) -> None:
    body = {"event": "charge.success", "data": {"id": 1}}
    async with app.crashing():
        assert (await app.send(body)).status_code == 500
        assert await app.outcomes() == []
    assert (await app.send(body)).status_code == 200
    assert await app.outcomes() == ["queued"]


async def test_a_database_that_cannot_be_written_is_503_with_retry_after(app: PaymentsApp) -> None:
    await make_read_only(app)
    responses = [await app.send({"event": "charge.success", "data": {"id": number}}) for number in range(3)]
    assert {response.status_code for response in responses} == {503}
    assert all(response.headers["retry-after"] for response in responses)


async def test_the_trace_of_the_request_travels_with_the_work(app: PaymentsApp) -> None:
    raw = b'{"event":"charge.success","data":{"id":1}}'
    headers = {"x-gateway-signature": sign(raw), "traceparent": TRACE}
    assert (await app.client.post(WEBHOOK, content=raw, headers=headers)).status_code == 200
    [work] = await app.fetch("SELECT trace FROM outbox")
    assert work["trace"]["traceparent"].split("-")[1] == TRACE.split("-")[1]


async def test_the_worker_settles_and_quarantines_over_the_broker(
    fresh_database: DatabaseFactory, broker_url: str, gateway: Sandbox, open_app: OpenApp
) -> None:
    urls = await fresh_database("payments")
    async with open_app(urls, broker_url, retry_delays_seconds=(0.05, 0.1)) as app:
        placed = await app.place_order()
        intent = await app.open_intent(placed.order_id)
        async with app.running("worker"):
            await app.send(app.charge(intent["reference"], 500_000))
            await app.send(app.charge("ch-" + "0" * 32, 700))

            async def settled() -> bool:
                return sorted(await app.outcomes()) == ["done", "done"]

            await eventually(settled)
        assert await app.order_status(placed.order_id) == "paid_escrow"
        [unknown] = await app.published("payments.charge_quarantined.v1")
        assert (unknown["reason"], unknown["amountMinor"]) == ("unknown_reference", 700)
