"""The door of the webhooks: signature, one commit, 200 (contract section 9)."""

import asyncio
import json
from typing import Any

from common.observability.telemetry import PREVIOUS_KEY_ACCEPTED
from common.process.service import background
from payments.app import SERVICE
from testkit.fixtures import eventually
from testkit.service_kit import opened

from .conftest import RELEASE_SIGNING_KEY

WEBHOOK = "/functions/v1/gateway-webhook"
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


async def test_fifty_identical_concurrent_webhooks_have_one_effect_and_each_gets_200(app: Any) -> None:
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    body = app.charge(intent["reference"], 500_000)

    answers = await asyncio.gather(*(app.send(body) for _ in range(50)))

    assert [answer.status_code for answer in answers] == [200] * 50
    assert await app.service.work("payments.webhooks") == 1
    assert await app.balances() == {"gateway_cash": 500_000, f"escrow:{placed.order_id}": -500_000}
    assert len(await app.service.published("payments.escrow_held.v1")) == 1
    assert (await app.send(body)).status_code == 200
    assert await app.service.work("payments.webhooks") == 0


async def test_the_response_follows_the_commit_of_row_and_work_item(app: Any) -> None:
    answer = await app.send({"event": "charge.success", "data": {"id": 11}})

    assert answer.json()["success"] is True
    assert answer.json()["meta"]["requestId"] == answer.headers["x-request-id"]
    [row] = await app.service.fetch("SELECT * FROM processed_webhook_events")
    assert (row["id"], row["provider"], row["event_type"]) == ("charge.success:11", "payment_gateway", "charge.success")
    assert row["payload"] == {"event": "charge.success", "data": {"id": 11}}
    assert json.loads(bytes(row["raw"])) == row["payload"]
    assert row["outcome"] == "queued"
    [work] = await app.service.fetch("SELECT queue, payload, published_at FROM outbox")
    assert (work["queue"], work["published_at"]) == ("payments.webhooks", None)
    assert json.loads(bytes(work["payload"])) == {"webhookId": "charge.success:11"}
    assert app.service.runtime.database.outbox_wakeup.is_set()


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


async def test_every_correctly_signed_body_gets_200_and_is_stored_unchanged(app: Any) -> None:
    for body in ODD_BODIES:
        first, again = await app.send(body), await app.send(body)
        assert (first.status_code, again.status_code) == (200, 200), body[:80]
    rows = await app.service.fetch("SELECT raw, outcome FROM processed_webhook_events")
    assert sorted(bytes(row["raw"]) for row in rows) == sorted(ODD_BODIES)
    assert {row["outcome"] for row in rows} == {"queued"}


async def test_unknown_events_and_odd_bodies_are_ignored_by_the_worker(app: Any) -> None:
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


async def test_a_bad_signature_is_401_with_the_bare_body_and_records_nothing(app: Any, signer: Any) -> None:
    raw = b'{"event":"charge.success","data":{"id":1}}'
    for name, signature in _refused_signatures(signer(raw)).items():
        headers = {} if signature is None else {"x-gateway-signature": signature}
        answer = await app.service.client.post(WEBHOOK, content=raw, headers=headers)
        assert (answer.status_code, answer.json()) == (401, {"error": "Invalid signature"}), name
    changed = await app.service.client.post(WEBHOOK, content=raw + b" ", headers={"x-gateway-signature": signer(raw)})
    assert changed.status_code == 401
    assert await app.outcomes() == []


async def test_the_previous_secret_holds_during_a_rotation(app: Any) -> None:
    counter = PREVIOUS_KEY_ACCEPTED.labels("gateway-secret-key")
    before = counter._value.get()
    answer = await app.send({"event": "charge.success", "data": {"id": 1}}, secret="sk_test_previous")
    assert counter._value.get() - before == 1, "so that it is seen whether the gateway still signs with it"
    assert answer.status_code == 200


async def test_without_a_secret_every_webhook_is_rejected(
    fresh_database: Any, broker_url: str, gateway: Any, signer: Any
) -> None:
    urls = await fresh_database("payments")
    async with opened(
        SERVICE, urls, broker_url, gateway_api_url=gateway.url, release_signing_key=RELEASE_SIGNING_KEY
    ) as service:
        for secret in ("", "sk_test_current"):
            answer = await service.client.post(
                WEBHOOK, content=b"{}", headers={"x-gateway-signature": signer(b"{}", secret)}
            )
            assert (answer.status_code, answer.json()) == (401, {"error": "Invalid signature"})


async def test_no_other_header_of_the_gateway_matters(app: Any, signer: Any) -> None:
    raw = b'{"event":"charge.success","data":{"id":1}}'
    headers = {"x-gateway-signature": signer(raw), "authorization": "nonsense", "content-type": "text/plain"}
    assert (await app.service.client.post(WEBHOOK, content=raw, headers=headers)).status_code == 200


async def test_a_body_over_one_mebibyte_is_413(app: Any) -> None:
    answer = await app.send(b"x" * (1024 * 1024 + 1))
    assert (answer.status_code, answer.json()["code"]) == (413, "VALIDATION_FAILED")
    assert (await app.send(b"x" * (1024 * 1024))).status_code == 200


async def test_another_method_is_405(app: Any) -> None:
    answer = await app.service.client.get(WEBHOOK)
    assert (answer.status_code, answer.headers["allow"], answer.json()["code"]) == (405, "POST", "VALIDATION_FAILED")


async def test_a_crash_before_the_commit_of_the_intake_leaves_nothing_and_the_next_try_works(
    app: Any, connect_as: Any
) -> None:
    body = {"event": "charge.success", "data": {"id": 1}}
    async with connect_as(app) as owner:
        await owner.execute(
            "CREATE FUNCTION crash() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'crash'; END $$"
        )
        await owner.execute("CREATE TRIGGER crash BEFORE INSERT ON outbox FOR EACH ROW EXECUTE FUNCTION crash()")
        assert (await app.send(body)).status_code == 500
        assert await app.outcomes() == []
        await owner.execute("DROP TRIGGER crash ON outbox")
    assert (await app.send(body)).status_code == 200
    assert await app.outcomes() == ["queued"]


async def test_a_database_that_cannot_be_written_is_503_with_retry_after(app: Any, connect_as: Any) -> None:
    async with connect_as(app, "admin") as owner:
        name = await owner.fetchval("SELECT current_database()")
        await owner.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
        # Settings of a database hold for new connections: the service's own ones are cut off, and waited for until they are.
        await owner.execute(
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND usename = 'campus_payments_service_a'"
        )
        answers = [await app.send({"event": "charge.success", "data": {"id": number}}) for number in range(3)]
    assert {answer.status_code for answer in answers} == {503}
    assert all(answer.headers["retry-after"] for answer in answers)


async def test_the_trace_of_the_request_travels_with_the_work(app: Any, signer: Any) -> None:
    raw = b'{"event":"charge.success","data":{"id":1}}'
    headers = {"x-gateway-signature": signer(raw), "traceparent": TRACE}
    assert (await app.service.client.post(WEBHOOK, content=raw, headers=headers)).status_code == 200
    [work] = await app.service.fetch("SELECT trace FROM outbox")
    assert work["trace"]["traceparent"].split("-")[1] == TRACE.split("-")[1]


async def test_through_the_broker_a_charge_settles_and_an_unknown_reference_is_quarantined_at_the_end_of_the_ladder(
    fresh_database: Any, broker_url: str, gateway: Any, open_app: Any
) -> None:
    urls = await fresh_database("payments")
    async with open_app(urls, broker_url, retry_delays_seconds=(0.05, 0.1)) as app:
        placed = await app.place_order()
        intent = await app.open_intent(placed.order_id)
        service = app.service
        running = [
            asyncio.ensure_future(loop) for loop in background(SERVICE, service.runtime, service.dependencies, "worker")
        ]
        try:
            await app.send(app.charge(intent["reference"], 500_000))
            await app.send(app.charge("ch-" + "0" * 32, 700))

            async def settled() -> bool:
                return sorted(await app.outcomes()) == ["done", "done"]

            await eventually(settled)
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
        assert await app.order_status(placed.order_id) == "paid_escrow"
        [unknown] = await service.published("payments.charge_quarantined.v1")
        assert (unknown["reason"], unknown["amountMinor"]) == ("unknown_reference", 700)
