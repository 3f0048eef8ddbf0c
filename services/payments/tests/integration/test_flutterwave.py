"""Payments with the second gateway, Flutterwave, alone and together with the first one."""

import base64
import hmac
import json
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio

from common.primitives.clock import iso
from payments.timers import (
    alert_due_chargebacks_once,
    query_disputes_once,
    query_unpaid_attempts_once,
    settle_refunds_once,
)
from payments.use_cases.reconciliation.reconcile import reconcile
from payments.use_cases.reconciliation.reconcile_settlements import reconcile_settlements
from providers.gateways import FLUTTERWAVE
from testkit.sandbox import FLUTTERWAVE_HASH as HASH

WEBHOOK = "/api/webhooks/flutterwave"
# The fee of 1.4 % of 5,000 naira, and 7.5 % of it as tax.
COST_MINOR = 7_000 + 525


@pytest_asyncio.fixture(loop_scope="session")
async def app(
    fresh_database: Any, broker_url: str, open_app: Any, flutterwave_settings: dict[str, Any]
) -> AsyncIterator[Any]:
    async with open_app(await fresh_database("payments"), broker_url, **flutterwave_settings) as data:
        yield data


async def newest_body(app: Any, event: str) -> dict[str, Any]:
    """Return the body of the sandbox's newest webhook of this gateway."""
    query = {"target": "flutterwave", "event": event, "limit": 1}
    [webhook] = (await app.gateway.client.get("/control/webhooks", params=query)).json()
    return dict(json.loads(webhook["body"]))


async def send(app: Any, body: dict[str, Any], headers: dict[str, str] | None = None) -> Any:
    raw = json.dumps(body).encode()
    given = {"verif-hash": HASH} if headers is None else headers
    return await app.client.post(WEBHOOK, content=raw, headers=given)


async def test_the_worker_queries_the_gateway_before_a_webhook_is_processed(app: Any) -> None:
    intent = await app.open_intent((await app.place_order()).order_id)
    await app.gateway.control("POST", f"charges/{intent['reference']}/pay", {})
    handover = app.database.handover
    with handover.to_relay():
        assert (await send(app, await newest_body(app, "charge.completed"))).status_code == 200
        await app.dependencies.webhooks.drain()
        assert [row.queue for row in handover.pop(10)] == ["payments.webhooks"]
    assert await app.outcomes() == ["queued"]


async def process(app: Any, body: dict[str, Any]) -> None:
    """Send a webhook, and process it and the response of the gateway that it causes."""
    assert (await send(app, body)).status_code == 200
    await app.work("payments.webhooks")
    await app.work("payments.webhooks")


async def paid_order(app: Any) -> tuple[Any, str]:
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    await app.gateway.control("POST", f"charges/{intent['reference']}/pay", {})
    await process(app, await newest_body(app, "charge.completed"))
    return placed, str(intent["reference"])


async def test_a_payment_is_settled_with_the_fee_that_the_gateway_kept(app: Any) -> None:
    placed, reference = await paid_order(app)
    assert await app.order_status(placed.order_id) == "paid_escrow"
    assert (await app.balances())["gateway_cash"] == 500_000 - COST_MINOR
    assert await app.dependencies.gateways.of(FLUTTERWAVE).balance_minor("NGN") == 500_000 - COST_MINOR
    [charge] = await app.fetch("SELECT reference, gateway, gateway_id FROM charges")
    assert (charge["reference"], charge["gateway"]) == (reference, "flutterwave")
    assert charge["gateway_id"].startswith("flw:")
    assert {row["gateway"] for row in await app.fetch("SELECT gateway FROM payment_references")} == {"flutterwave"}
    await app.check_ledger()


async def test_the_content_of_a_webhook_is_never_believed(app: Any) -> None:
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    await app.gateway.control("POST", f"charges/{intent['reference']}/decline", {"reason": "Insufficient Funds"})
    body = await newest_body(app, "charge.completed")
    body["data"] |= {"status": "successful", "amount": 5_000, "charged_amount": 5_000}
    await process(app, body)
    assert await app.fetch("SELECT FROM charges") == []
    [failed] = await app.published("payments.payment_failed.v1")
    assert failed["failureReason"] == "Insufficient Funds"


async def test_a_webhook_of_an_unknown_transaction_posts_nothing(app: Any) -> None:
    data = {"id": 424242, "tx_ref": "ch-0", "status": "successful", "amount": 5_000, "currency": "NGN"}
    await process(app, {"event": "charge.completed", "data": data})
    assert await app.fetch("SELECT FROM charges") == []
    assert await app.outcomes() == ["ignored"]


@pytest.mark.parametrize(
    "headers",
    [{}, {"verif-hash": ""}, {"verif-hash": "other"}, {"flutterwave-signature": HASH}, {"x-gateway-signature": HASH}],
    ids=["none", "empty", "wrong", "hash as signature", "other gateway's"],
)
async def test_a_webhook_without_the_secret_hash_gets_401(app: Any, headers: dict[str, str]) -> None:
    response = await send(app, {"event": "charge.completed", "data": {"id": 1}}, headers)
    assert (response.status_code, response.json()) == (401, {"error": "Invalid signature"})
    assert await app.fetch("SELECT FROM processed_webhook_events") == []


async def test_a_webhook_signed_over_its_body_is_accepted(app: Any) -> None:
    raw = json.dumps({"event": "charge.completed", "data": {"id": 1}}).encode()
    signature = base64.b64encode(hmac.digest(HASH.encode(), raw, "sha256")).decode()
    post = app.client.post
    assert (await post(WEBHOOK, content=raw, headers={"flutterwave-signature": signature})).status_code == 200
    changed = {"flutterwave-signature": signature, "verif-hash": HASH}
    assert (await post(WEBHOOK, content=raw + b" ", headers=changed)).status_code == 401


async def test_the_same_webhook_twice_settles_one_charge(app: Any) -> None:
    await paid_order(app)
    await process(app, await newest_body(app, "charge.completed"))
    assert len(await app.fetch("SELECT FROM charges")) == 1
    await app.check_ledger()


async def test_a_paid_transaction_without_a_webhook_is_found_by_its_reference(app: Any) -> None:
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    app.clock.advance(timedelta(minutes=1))
    assert await query_unpaid_attempts_once(app.dependencies) == 0
    await app.gateway.control("POST", f"charges/{intent['reference']}/pay", {})
    app.clock.advance(timedelta(minutes=2))
    assert await query_unpaid_attempts_once(app.dependencies) == 1
    await app.work("payments.webhooks")
    assert await app.order_status(placed.order_id) == "paid_escrow"


async def refunded(app: Any) -> Any:
    placed, _ = await paid_order(app)
    await app.receive(app.refund_requested(placed, 200_050))
    await app.work("payments.refunds")
    return placed


async def test_a_refund_is_settled_when_the_customer_has_it(app: Any) -> None:
    await refunded(app)
    [refund] = await app.fetch("SELECT status, gateway_refund_id FROM refunds")
    assert refund["status"] == "submitted"
    number = refund["gateway_refund_id"].removeprefix("flw:")
    await app.gateway.control("POST", f"refunds/{number}/process", {})
    await process(app, await newest_body(app, "refund.completed"))
    [settled] = await app.published("payments.refund_settled.v1")
    assert settled["amountMinor"] == 200_050
    balance = 500_000 - COST_MINOR - 200_050
    assert await app.dependencies.gateways.of(FLUTTERWAVE).balance_minor("NGN") == balance
    assert (await app.balances())["gateway_cash"] == balance
    await app.check_ledger()


async def test_a_failed_refund_waits_for_a_decision(app: Any) -> None:
    await refunded(app)
    [refund] = await app.fetch("SELECT gateway_refund_id FROM refunds")
    await app.gateway.control("POST", f"refunds/{refund['gateway_refund_id'].removeprefix('flw:')}/fail", {})
    app.clock.advance(timedelta(minutes=5))
    assert await settle_refunds_once(app.dependencies) == 1
    assert [row["status"] for row in await app.fetch("SELECT status FROM refunds")] == ["failed"]


async def test_a_refund_whose_response_was_lost_is_not_sent_twice(app: Any) -> None:
    placed, _ = await paid_order(app)
    await app.gateway.faults(refund_call={"error_after": True, "times": 1})
    await app.receive(app.refund_requested(placed, 200_000))
    with pytest.raises(Exception, match="refund: 500"):
        await app.work("payments.refunds")
    app.clock.advance(timedelta(minutes=5))
    await app.requeue()
    await app.work("payments.refunds")
    listed = await app.dependencies.gateways.of(FLUTTERWAVE).list_refunds(
        (await app.fetch("SELECT gateway_id FROM charges"))[0]["gateway_id"]
    )
    assert len(listed) == 1
    [refund] = await app.fetch("SELECT status, gateway_refund_id FROM refunds")
    assert (refund["status"], refund["gateway_refund_id"]) == ("submitted", listed[0].gateway_refund_id)


@pytest.mark.parametrize(("action", "outcome"), [("lose", "lost"), ("win", "won")])
async def test_a_chargeback_follows_the_gateways_decision(app: Any, action: str, outcome: str) -> None:
    # Another payment covers the debit of a lost chargeback beyond the fee.
    await paid_order(app)
    placed, reference = await paid_order(app)
    dispute = await app.gateway.control("POST", f"charges/{reference}/dispute", {})
    await process(app, await newest_body(app, "chargeback.initiated"))
    [opened] = await app.published("payments.charge_disputed.v1")
    assert opened["orderId"] == str(placed.order_id)
    await app.gateway.control("POST", f"disputes/{dispute['id']}/{action}", {})
    await process(app, await newest_body(app, f"chargeback.{outcome}"))
    assert [row["status"] for row in await app.fetch("SELECT status FROM chargebacks")] == [outcome]
    cash = 2 * (500_000 - COST_MINOR) - (500_000 if outcome == "lost" else 0)
    assert (await app.balances()).get("gateway_cash", 0) == cash
    await app.check_ledger()


async def test_a_chargeback_without_a_webhook_is_opened_and_decided_by_queries(app: Any) -> None:
    await paid_order(app)
    _, reference = await paid_order(app)
    body = {"due_at": "2100-01-01T00:00:00.000Z"}
    dispute = await app.gateway.control("POST", f"charges/{reference}/dispute", body)
    for filed in (1, 0):
        assert await query_disputes_once(app.dependencies) == filed
    await app.work("payments.webhooks")
    [shown] = await app.get_as("/api/chargebacks")
    assert (shown["status"], shown["dueAt"]) == ("opened", body["due_at"])
    await app.gateway.control("POST", f"disputes/{dispute['id']}/lose", {})
    assert await query_disputes_once(app.dependencies) == 1
    await app.work("payments.webhooks")
    assert [row["status"] for row in await app.fetch("SELECT status FROM chargebacks")] == ["lost"]


async def test_a_response_to_a_chargeback_is_422_with_the_place_to_give_it(app: Any) -> None:
    _, reference = await paid_order(app)
    due_at = iso(app.clock.now() + timedelta(days=2))
    await app.gateway.control("POST", f"charges/{reference}/dispute", {"due_at": due_at})
    await process(app, await newest_body(app, "chargeback.initiated"))
    [shown] = await app.get_as("/api/chargebacks")
    contest = {
        "resolution": "contest",
        "message": "Delivered with proof",
        "attachment": base64.b64encode(b"%PDF-1.4 a receipt").decode(),
    }
    evidence = {
        "customerEmail": "ada@unilag.edu.ng",
        "customerName": "Ada Obi",
        "customerPhone": "+2348012345678",
        "serviceDetails": "A textbook",
    }
    for verb, body in (("resolve", contest), ("evidence", evidence)):
        response = await app.post_as(f"/api/chargebacks/{shown['id']}/{verb}", body, "finance_maker")
        assert response.status_code == 422, response.text
        assert "Flutterwave's dashboard" in response.json()["detail"]
    assert await app.fetch("SELECT 1 FROM chargeback_responses") == []
    # The alert before the date stays, and names the same place.
    app.clock.advance(timedelta(days=1, hours=20))
    assert await alert_due_chargebacks_once(app.dependencies) == 1
    alert = (await app.published("operations.alert_raised.v1"))[-1]
    assert (alert["severity"], alert["runbook"]) == ("SEV-1", "chargeback")
    assert "Respond in Flutterwave's dashboard" in alert["detail"]


async def reconcile_all(app: Any) -> None:
    # After the time in which webhooks may still arrive.
    app.clock._now = max(app.clock.now(), datetime.now(UTC)) + timedelta(minutes=11)
    needs = app.dependencies
    now = app.clock.now()
    await reconcile(needs.database, needs.gateways, needs.clock, now - timedelta(days=90), now)


async def test_reconciliation_recovers_a_missing_webhook_of_this_gateway(app: Any) -> None:
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    await app.gateway.control("POST", f"charges/{intent['reference']}/pay", {})
    await reconcile_all(app)
    [case] = await app.fetch("SELECT kind, gateway FROM reconciliation_cases")
    assert (case["kind"], case["gateway"]) == ("charge_not_in_book", "flutterwave")
    await app.work("payments.webhooks")
    assert await app.order_status(placed.order_id) == "paid_escrow"
    await reconcile_all(app)
    [case] = await app.fetch("SELECT status FROM reconciliation_cases")
    assert case["status"] == "explained"


async def test_reconciliation_recovers_a_chargeback_that_was_lost_without_a_webhook(app: Any) -> None:
    await paid_order(app)
    _, reference = await paid_order(app)
    dispute = await app.gateway.control("POST", f"charges/{reference}/dispute", {})
    await app.gateway.control("POST", f"disputes/{dispute['id']}/lose", {})
    await reconcile_all(app)
    await app.work("payments.webhooks")
    assert [row["status"] for row in await app.fetch("SELECT status FROM chargebacks")] == ["lost"]
    await app.check_ledger()


@pytest.mark.parametrize("is_reported", [True, False])
async def test_a_refund_made_in_the_dashboard_is_recorded(app: Any, is_reported: bool) -> None:
    placed, reference = await paid_order(app)
    refund = await app.gateway.control("POST", f"charges/{reference}/refund", {"amount": 200_000})
    await app.gateway.control("POST", f"refunds/{refund['id']}/process", {})
    if is_reported:
        await process(app, await newest_body(app, "refund.completed"))
    else:
        await reconcile_all(app)
        await app.work("payments.webhooks")
    [row] = await app.fetch("SELECT kind, amount_minor, status FROM refunds")
    assert tuple(row) == ("outside", 200_000, "settled")
    assert (await app.balances())[f"escrow:{placed.order_id}"] == -300_000
    await reconcile_all(app)
    assert await app.fetch("SELECT 1 FROM reconciliation_cases WHERE status = 'open'") == []
    await app.check_ledger()


async def test_a_settlement_to_the_bank_is_posted_once(app: Any) -> None:
    _, reference = await paid_order(app)
    settled = await app.gateway.control("POST", "settlements", {"gateway": "flutterwave"})
    for _ in range(2):
        await reconcile_all(app)
    balances = await app.balances()
    assert balances["bank_account"] == 500_000 - COST_MINOR
    gateway = app.dependencies.gateways.of(FLUTTERWAVE)
    assert balances.get("gateway_cash", 0) == await gateway.balance_minor("NGN") == 0
    [posted] = await app.fetch("SELECT posting_key FROM ledger_transactions WHERE type = 'settlement'")
    assert posted["posting_key"] == f"settlement:flw:{settled['id']}"
    raised = await app.published("operations.alert_raised.v1")
    assert [alert["dedupKey"] for alert in raised] == ["gateway-settlement"]
    listed = await gateway.page_of_settlement_charges(f"flw:{settled['id']}", 1)
    assert [charge.reference for charge in listed.rows] == [reference]
    assert await app.fetch("SELECT 1 FROM reconciliation_cases") == []
    await app.check_ledger()


async def test_a_settlement_to_the_wallet_posts_nothing(app: Any) -> None:
    await paid_order(app)
    await app.gateway.control("POST", "settlements", {"gateway": "flutterwave", "destination": "autowallet"})
    await reconcile_all(app)
    balances = await app.balances()
    assert "bank_account" not in balances
    gateway = app.dependencies.gateways.of(FLUTTERWAVE)
    assert balances["gateway_cash"] == await gateway.balance_minor("NGN") == 500_000 - COST_MINOR
    assert await app.published("operations.alert_raised.v1") == []


async def test_a_settlement_of_unknown_charges_is_a_case_of_this_gateway(app: Any) -> None:
    # Paid at the gateway; neither its webhook nor a query was processed.
    intent = await app.open_intent((await app.place_order()).order_id)
    await app.gateway.control("POST", f"charges/{intent['reference']}/pay", {})
    await app.gateway.control("POST", "settlements", {"gateway": "flutterwave"})
    needs, now = app.dependencies, datetime.now(UTC)
    gateway = needs.gateways.of(FLUTTERWAVE)
    period = (now - timedelta(days=1), now + timedelta(days=1))
    found = [batch async for batch in reconcile_settlements(needs.database, gateway, *period)]
    [difference] = [difference for batch in found for difference in batch]
    assert (difference.kind, difference.theirs_minor) == ("settlement_not_in_book", 500_000 - COST_MINOR)
    assert "bank_account" not in await app.balances()


async def test_a_payment_opened_before_a_change_of_the_setting_is_settled_where_it_began(
    fresh_database: Callable[..., Any], broker_url: str, open_app: Any, flutterwave_settings: dict[str, Any]
) -> None:
    urls = await fresh_database("payments")
    async with open_app(urls, broker_url, **{**flutterwave_settings, "gateway_provider": "paystack"}) as app:
        placed = await app.place_order()
        intent = await app.open_intent(placed.order_id)
    async with open_app(urls, broker_url, **flutterwave_settings) as app:
        await app.process_webhook(await app.gateway.pay(intent["reference"]))
        assert await app.order_status(placed.order_id) == "paid_escrow"
        assert [row["gateway"] for row in await app.fetch("SELECT gateway FROM charges")] == ["paystack"]


async def test_a_refund_goes_to_the_gateway_of_its_charge_after_a_change_of_the_setting(
    fresh_database: Callable[..., Any], broker_url: str, open_app: Any, flutterwave_settings: dict[str, Any]
) -> None:
    urls = await fresh_database("payments")
    async with open_app(urls, broker_url, **flutterwave_settings) as app:
        placed, _ = await paid_order(app)
    settings = {**flutterwave_settings, "gateway_provider": "paystack"}
    async with open_app(urls, broker_url, **settings) as app:
        second = await app.paid_order()
        await app.receive(app.refund_requested(placed, 200_000))
        await app.receive(app.refund_requested(second, 100_000))
        await app.work("payments.refunds")
        await app.work("payments.refunds")
        [first_refund] = await app.gateway.refunds()
        assert first_refund["amount"] == 100_000
        gateways = app.dependencies.gateways
        charges = await app.fetch("SELECT gateway, gateway_id FROM charges ORDER BY settled_at")
        assert [charge["gateway"] for charge in charges] == ["flutterwave", "paystack"]
        [refund] = await gateways.of("flutterwave").list_refunds(charges[0]["gateway_id"])
        assert refund.amount_minor == 200_000
        await reconcile_all(app)
        assert await app.fetch("SELECT FROM reconciliation_cases") == []
        await app.check_ledger()


async def test_a_gateway_without_a_key_keeps_its_payments_unchanged(
    fresh_database: Callable[..., Any], broker_url: str, open_app: Any, flutterwave_settings: dict[str, Any]
) -> None:
    urls = await fresh_database("payments")
    async with open_app(urls, broker_url, **flutterwave_settings) as app:
        placed, _ = await paid_order(app)
    async with open_app(urls, broker_url) as app:
        await app.receive(app.refund_requested(placed, 200_000))
        with pytest.raises(Exception, match="flutterwave is not configured"):
            await app.work("payments.refunds")
        response = await send(app, {"event": "charge.completed", "data": {"id": 1}})
        assert response.status_code == 401
