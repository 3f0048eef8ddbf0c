"""Revised webhooks are recorded, counted and alerted, and never processed; the gateway is queried (section 9.2)."""

import asyncio
import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from payments.app import webhook_trail_command
from payments.domain.revisions import GatewaySubject
from payments.metrics import WEBHOOKS_ACCEPTED
from payments.timers import query_revised_webhooks_once

from .conftest import PaymentsApp

ALERT = "operations.alert_raised.v1"


def _accepted(arrival: str) -> float:
    return float(WEBHOOKS_ACCEPTED.labels(arrival)._value.get())


async def _query(app: PaymentsApp) -> int:
    responses = await query_revised_webhooks_once(app.dependencies)
    await app.work("payments.webhooks")
    return int(responses)


async def _revised(app: PaymentsApp) -> list[tuple[int, int, bool]]:
    """Return the number of revisions, the recorded revisions, and whether a query is due."""
    rows = await app.fetch("SELECT * FROM revised_webhooks ORDER BY webhook_id")
    return [(row["revisions"], row["kept"], row["due_at"] is not None) for row in rows]


async def _paid_at_the_gateway(app: PaymentsApp) -> tuple[Any, dict[str, Any]]:
    """Return an order with a charge at the gateway, and the body of its webhook."""
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    body = await app.pay(intent["reference"])
    await app.process_webhook(body)
    return placed, body


async def test_the_same_content_in_other_bytes_is_a_duplicate(app: PaymentsApp) -> None:
    _, body = await _paid_at_the_gateway(app)
    before = await app.snapshot()
    turned = {"data": dict(reversed(body["data"].items())), "event": body["event"]}
    for raw in (json.dumps(turned, indent=2), json.dumps(turned, separators=(",", ":")), json.dumps(body) + "\n"):
        assert (await app.send(raw.encode())).status_code == 200
    assert await app.snapshot() == before


async def test_a_command_prints_the_webhooks_of_a_gateway_in_a_period(
    app: PaymentsApp, capsys: pytest.CaptureFixture[str]
) -> None:
    _, body = await _paid_at_the_gateway(app)
    [(webhook_id, processed_at)] = await app.fetch("SELECT id, processed_at FROM processed_webhook_events")
    at = processed_at.isoformat()
    capsys.readouterr()

    await webhook_trail_command(app.dependencies, "paystack", at, at)
    [line] = map(json.loads, capsys.readouterr().out.splitlines())
    assert datetime.fromisoformat(line.pop("at")) == processed_at
    assert line == {"what": f"webhook {body['event']}", "detail": {"id": webhook_id, "outcome": "done"}}
    await webhook_trail_command(app.dependencies, "flutterwave", at, at)
    later = processed_at + timedelta(microseconds=1)
    await webhook_trail_command(app.dependencies, "paystack", later.isoformat(), later.isoformat())
    assert not capsys.readouterr().out
    with pytest.raises(SystemExit, match="no gateway paystak: paystack or flutterwave"):
        await webhook_trail_command(app.dependencies, "paystak", at, at)


async def test_a_revision_is_recorded_and_alerted_and_not_processed(app: PaymentsApp) -> None:
    _, body = await _paid_at_the_gateway(app)
    ledger, counted = await app.balances(), _accepted("revised")
    revision = {"event": body["event"], "data": {**body["data"], "amount": 900_000, "channel": "ussd"}}
    raw = json.dumps(revision).encode()
    for _ in range(3):
        response = await app.send(raw)
        assert (response.status_code, response.json()["data"]) == (200, {"received": True})
    assert await app.work("payments.webhooks") == 0
    assert await app.balances() == ledger
    assert _accepted("revised") - counted == 1, "the same revision again is a duplicate"
    [recorded] = await app.fetch("SELECT * FROM webhook_revisions")
    assert (recorded["webhook_id"], bytes(recorded["raw"])) == (f"charge.success:{body['data']['id']}", raw)
    [first] = await app.fetch("SELECT raw FROM processed_webhook_events")
    assert json.loads(bytes(first["raw"])) == body
    [alert] = await app.published(ALERT)
    assert (alert["severity"], alert["runbook"]) == ("SEV-3", "revised-webhook")
    assert "data.amount, data.channel" in alert["detail"]
    assert "900000" not in alert["detail"]


async def test_the_gateways_response_is_processed_instead_of_the_revision(app: PaymentsApp) -> None:
    """The first body had a smaller amount than the gateway; the queried amount pays nothing twice."""
    placed, body = await _paid_at_the_gateway(app)
    await app.send({"event": body["event"], "data": {**body["data"], "amount": 900_000}})
    assert await _query(app) == 1
    assert await _revised(app) == [(1, 1, False)]
    assert await app.balances() == {"gateway_cash": 500_000, f"escrow:{placed.order_id}": -500_000}
    [response] = await app.fetch("SELECT * FROM processed_webhook_events WHERE id LIKE 'answer:%'")
    assert (response["event_type"], response["outcome"]) == ("charge.success", "ignored")
    data = await app.gateway.transaction(body["data"]["reference"])
    assert response["payload"] == {"event": "charge.success", "data": data}
    assert await _query(app) == 0, "an answered key is not queried again"


async def test_a_queried_response_settles_what_the_first_body_could_not(app: PaymentsApp) -> None:
    """The first body is unreadable; the gateway's response pays the order, and the revision does not."""
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    good = await app.pay(intent["reference"])
    await app.send({"event": "charge.success", "data": {**good["data"], "amount": "500000"}})
    await app.fetch("UPDATE processed_webhook_events SET outcome = 'dead' RETURNING 1")
    await app.send(good)
    assert await app.order_status(placed.order_id) == "Processing"
    assert await _query(app) == 1
    assert await app.order_status(placed.order_id) == "paid_escrow"


async def test_a_revision_that_names_another_reference_has_both_queried(app: PaymentsApp) -> None:
    _, body = await _paid_at_the_gateway(app)
    other = await app.open_intent((await app.place_order()).order_id)
    data = {**body["data"], "reference": other["reference"]}
    await app.send({"event": body["event"], "data": data})
    app.gateway.calls.clear()
    await _query(app)
    requested = [call for call in app.gateway.calls if "verify" in call]
    assert requested == [
        f"GET /transaction/verify/{body['data']['reference']}",
        f"GET /transaction/verify/{other['reference']}",
    ]


async def test_a_repeated_success_after_a_reversal_follows_the_gateways_response(app: PaymentsApp) -> None:
    await app.paid_order()
    gateway = app.paystack
    account = {"account_number": "0123456785", "bank_code": "058", "account_name": "Ada Obi Ventures"}
    recipient = await gateway.create_recipient(**account)
    await gateway.start_transfer(reference="po-0000000000000081", recipient_code=recipient, amount_minor=50_000)
    arrived = await app.gateway.move_transfer("po-0000000000000081", "succeed")
    for _ in range(2):
        await app.process_webhook(arrived)
    await app.process_webhook(await app.gateway.move_transfer("po-0000000000000081", "reverse"))
    again = await app.gateway.move_transfer("po-0000000000000081", "succeed")
    again["data"]["updatedAt"] = "2100-01-01T10:00:00.000Z"
    for _ in range(2):
        await app.process_webhook(again)
    await app.process_webhook(arrived)
    assert len(await app.published("payments.transfer_succeeded.v1")) == 1
    assert await _query(app) == 1
    assert len(await app.published("payments.transfer_succeeded.v1")) == 2
    assert len(await app.published("payments.transfer_reversed.v1")) == 1


async def test_a_refunds_revision_queries_the_refund_itself(app: PaymentsApp) -> None:
    refund_id = await app.failed_refund()
    refund = (await app.gateway.refunds())[-1]
    event = {"id": 77, "transaction_reference": refund["transaction_reference"], "amount": "500000", "currency": "NGN"}
    await app.process_webhook({"event": "refund.pending", "data": event | {"id": refund["id"]}})
    await app.gateway.faults(verify_call={"data": {"status": "processed"}, "match": refund["id"]})
    await app.send({"event": "refund.pending", "data": event | {"id": refund["id"], "processor": "another"}})
    assert await _query(app) == 1
    [row] = await app.fetch("SELECT id, status FROM refunds")
    assert (str(row["id"]), row["status"]) == (refund_id, "settled")


async def test_an_unqueryable_event_is_recorded_and_alerted(app: PaymentsApp) -> None:
    for number in range(2):
        await app.process_webhook({"event": "subscription.create", "data": {"id": 10, "plan": number}})
    assert await _revised(app) == [(1, 1, False)]
    assert len(await app.published(ALERT)) == 1
    assert await app.outcomes() == ["ignored"]


async def test_a_flood_of_revisions_is_bounded_in_bytes_alerts_and_queries(app: PaymentsApp) -> None:
    _, body = await _paid_at_the_gateway(app)
    app.gateway.calls.clear()

    async def flood(start: int) -> None:
        bodies = [
            {"event": body["event"], "data": {**body["data"], "note": number}} for number in range(start, start + 30)
        ]
        responses = await asyncio.gather(*(app.send(one) for one in bodies))
        assert {response.status_code for response in responses} == {200}

    await flood(0)
    await _query(app)
    await flood(30)
    assert await _query(app) == 0, "a key is queried once in thirty seconds"
    assert await _revised(app) == [(60, 10, True)]
    assert len(await app.fetch("SELECT FROM webhook_revisions")) == 10
    alerts = await app.published(ALERT)
    assert len(alerts) == 10
    assert len({alert["dedupKey"] for alert in alerts}) == 1
    assert len(app.gateway.calls) == 1
    app.clock.advance(timedelta(seconds=31))
    await _query(app)
    assert len(app.gateway.calls) == 2
    assert await _revised(app) == [(60, 10, False)]
    await app.check_ledger()


async def test_an_unavailable_gateway_is_queried_with_growing_delays(app: PaymentsApp) -> None:
    _, body = await _paid_at_the_gateway(app)
    await app.send({"event": body["event"], "data": {**body["data"], "note": 1}})
    await app.gateway.faults(verify_call={"error_before": 503, "times": 2})
    waits = []
    for _ in range(2):
        assert await _query(app) == 0
        [row] = await app.fetch("SELECT due_at FROM revised_webhooks")
        waits.append(row["due_at"] - app.clock.now())
        app.clock.advance(waits[-1])
    assert waits == [timedelta(minutes=1), timedelta(minutes=2)]
    assert await _query(app) == 1
    assert await _revised(app) == [(1, 1, False)]


async def test_a_key_revised_during_its_query_is_queried_again(
    app: PaymentsApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, body = await _paid_at_the_gateway(app)
    await app.send({"event": body["event"], "data": {**body["data"], "note": 1}})
    find, late = type(app.paystack).find_event, {**body["data"], "note": 2}

    async def slow(gateway: Any, subject: GatewaySubject) -> Any:
        response = await find(gateway, subject)
        assert (await app.send({"event": body["event"], "data": late})).status_code == 200
        return response

    with monkeypatch.context() as patched:
        patched.setattr(type(app.paystack), "find_event", slow)
        await _query(app)
    assert await _revised(app) == [(2, 2, True)]
    app.clock.advance(timedelta(seconds=31))
    await _query(app)
    assert await _revised(app) == [(2, 2, False)]


@pytest.mark.parametrize("deaths", [1, 2])
async def test_a_crash_between_the_steps_keeps_every_revision_and_response(app: PaymentsApp, deaths: int) -> None:
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    good = await app.pay(intent["reference"])
    await app.process_webhook({"event": "charge.success", "data": {**good["data"], "status": "reversed"}})
    async with app.crashing():
        for _ in range(deaths):
            # Neither row nor alert was committed: the gateway sends the revision again.
            assert (await app.send(good)).status_code == 500
            assert await _revised(app) == []
    assert (await app.send(good)).status_code == 200
    for table, operation in (("outbox", "INSERT"), ("revised_webhooks", "UPDATE OF answered_at")):
        async with app.crashing(operation=operation, table=table):
            for _ in range(deaths):
                # The response was not recorded, then recorded and not marked: the query stays due.
                with pytest.raises(Exception, match="crash"):
                    await query_revised_webhooks_once(app.dependencies)
                assert [due for _, _, due in await _revised(app)] == [True]
                app.clock.advance(timedelta(hours=1))
    await _query(app)
    await app.work("payments.webhooks")
    assert await _revised(app) == [(1, 1, False)]
    assert await app.order_status(placed.order_id) == "paid_escrow"
    assert await app.balances() == {"gateway_cash": 500_000, f"escrow:{placed.order_id}": -500_000}
    assert len(await app.published("payments.escrow_held.v1")) == 1


async def test_the_first_of_concurrent_contents_is_processed(app: PaymentsApp) -> None:
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    body = app.charge(intent["reference"], 500_000)
    bodies = [{"event": body["event"], "data": {**body["data"], "note": number % 4}} for number in range(20)]
    responses = await asyncio.gather(*(app.send(one) for one in bodies))
    assert {response.status_code for response in responses} == {200}
    assert await _revised(app) == [(3, 3, True)]
    assert await app.work("payments.webhooks") == 1
    assert len(await app.published("payments.escrow_held.v1")) == 1
