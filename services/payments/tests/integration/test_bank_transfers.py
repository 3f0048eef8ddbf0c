"""Payment by bank transfer to an account of the charge (contract section 7)."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from common.primitives.clock import iso
from contracts.orders import OrderExpired, OrderPlaced
from payments.timers import query_unpaid_attempts_once
from testkit.fixtures import eventually

from .conftest import PaymentsApp
from .purchases import escrows_minor, place_purchase

CHANNEL = "bank_transfer"
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


async def request_account(app: PaymentsApp, placed: OrderPlaced, **changes: Any) -> dict[str, Any]:
    response = await app.request_intent(placed.order_id, **{"channel": CHANNEL, **changes})
    assert response.status_code == 201, response.text
    intent: dict[str, Any] = response.json()["data"]
    return intent


async def long_order(app: PaymentsApp) -> OrderPlaced:
    """Place an order that outlives the accounts of its payments, which end 20 minutes from now."""
    ends_at = iso(app.clock.now() + timedelta(minutes=20))
    await app.gateway.faults(charge_call={"data": {"account_expires_at": ends_at}})
    return await app.place_order(payment_due_at=iso(app.clock.now() + timedelta(hours=4)))


def charge_calls(app: PaymentsApp) -> list[str]:
    return [call for call in app.gateway.calls if call.split()[1].startswith("/charge")]


async def test_the_intent_has_a_link_and_the_account_of_its_charge(app: PaymentsApp) -> None:
    intent = await request_account(app, await app.place_order())
    pending = (await app.gateway.client.get(f"/gateway/charge/{intent['reference']}")).json()["data"]
    assert intent["bankTransfer"] == {
        "bankName": "Titan",
        "accountNumber": pending["account_number"],
        "accountName": "CAMPUS CHECKOUT",
        "amountMinor": 500_000,
        "expiresAt": "2026-01-01T00:15:00.000Z",
    }
    assert intent["authorizationUrl"].startswith(f"{app.gateway.address}/pay/")
    assert intent["status"] == "pending"


async def test_an_unknown_channel_is_422(app: PaymentsApp) -> None:
    placed = await app.place_order()
    rejected = await app.request_intent(placed.order_id, channel="cheque")
    assert (rejected.status_code, rejected.json()["invalid_params"][0]["name"]) == (422, "channel")


async def test_a_transfer_of_the_amount_pays_the_order(app: PaymentsApp) -> None:
    placed = await app.place_order()
    intent = await request_account(app, placed)
    await app.process_webhook(await app.gateway.transfer(intent["reference"]))
    assert await app.order_status(placed.order_id) == "paid_escrow"
    assert await app.balances() == {"gateway_cash": 500_000, f"escrow:{placed.order_id}": -500_000}


async def test_the_link_of_a_bank_transfer_pays_the_order_too(app: PaymentsApp) -> None:
    placed = await app.place_order()
    intent = await request_account(app, placed)
    [page] = [row for row in await app.gateway.transactions() if row["reference"] != intent["reference"]]
    await app.process_webhook(await app.gateway.pay(page["reference"]))
    assert await app.order_status(placed.order_id) == "paid_escrow"


async def test_a_purchase_is_paid_by_one_transfer(app: PaymentsApp) -> None:
    purchase = await place_purchase(app)
    intent = (await app.request_intent(None, purchaseId=str(purchase.id), channel=CHANNEL)).json()["data"]
    assert intent["bankTransfer"]["amountMinor"] == 1_000_000
    await app.process_webhook(await app.gateway.transfer(intent["reference"]))
    assert await app.balances() == {"gateway_cash": 1_000_000, **escrows_minor(purchase)}


async def test_an_intent_that_is_closed_for_another_waits_for_no_order(app: PaymentsApp) -> None:
    """Settling locks the order, then its intents."""

    async def request_waits() -> bool:
        async with app.connected("admin") as observer:
            return bool(await observer.fetchval(WAITING))

    placed = await app.place_order()
    await app.open_intent(placed.order_id)
    async with app.connected("admin") as settling, settling.transaction():
        await settling.execute("SELECT FROM payable_orders WHERE id = $1 FOR UPDATE", placed.order_id)
        request = asyncio.create_task(request_account(app, placed))
        await eventually(request_waits)
        await settling.execute("SET LOCAL lock_timeout = '30s'")
        await settling.execute("UPDATE payment_intents SET queries = queries WHERE order_id = $1", placed.order_id)
    assert (await request)["bankTransfer"]["amountMinor"] == 500_000


async def test_transfers_that_are_too_low_add_up_in_what_the_buyer_is_shown(app: PaymentsApp) -> None:
    intent = await request_account(app, await app.place_order())
    for amount_minor in (300_000, 200_000):
        await app.process_webhook(await app.gateway.transfer(intent["reference"], amount_minor))
    headers = app.headers(app.buyer)
    shown = (await app.client.get(f"/api/payments/{intent['id']}", headers=headers)).json()["data"]
    assert (shown["status"], shown["receivedMinor"]) == ("quarantined", 500_000)


async def test_less_than_the_amount_is_quarantined(app: PaymentsApp) -> None:
    placed = await app.place_order()
    intent = await request_account(app, placed)
    await app.process_webhook(await app.gateway.transfer(intent["reference"], 499_999))
    assert await app.order_status(placed.order_id) == "Processing"
    assert await app.balances() == {"gateway_cash": 499_999, f"quarantine:{intent['reference']}": -499_999}
    [event] = await app.published("payments.charge_quarantined.v1")
    assert (event["reason"], event["amountMinor"], event["buyerId"]) == ("underpaid", 499_999, str(app.buyer))
    assert (event["expectedMinor"], event["orderIds"]) == (500_000, [str(placed.order_id)])
    headers = app.headers(app.buyer)
    [shown] = (await app.client.get("/api/payments", headers=headers)).json()["data"]
    assert (shown["status"], shown["amountMinor"], shown["receivedMinor"]) == ("quarantined", 500_000, 499_999)
    again = await request_account(app, placed)
    assert again["bankTransfer"]["accountNumber"] != intent["bankTransfer"]["accountNumber"]


async def test_more_than_the_amount_is_refunded_as_a_surplus(app: PaymentsApp) -> None:
    placed = await app.place_order()
    intent = await request_account(app, placed)
    await app.process_webhook(await app.gateway.transfer(intent["reference"], 520_000))
    assert await app.order_status(placed.order_id) == "paid_escrow"
    [refund] = await app.fetch("SELECT id, amount_minor, kind FROM refunds")
    assert (refund["amount_minor"], refund["kind"]) == (20_000, "overpayment")
    assert (await app.balances())[f"refund_payable:{refund['id']}"] == -20_000
    await app.work("payments.refunds")
    [sent] = await app.gateway.refunds()
    assert sent["amount"] == 20_000


async def test_a_second_transfer_into_the_account_is_refunded(app: PaymentsApp) -> None:
    placed = await app.place_order()
    intent = await request_account(app, placed)
    await app.process_webhook(await app.gateway.transfer(intent["reference"]))
    second = await app.gateway.transfer(intent["reference"])
    await app.process_webhook(second)
    [refund] = await app.fetch("SELECT amount_minor FROM refunds")
    assert refund["amount_minor"] == 500_000
    await app.work("payments.refunds")
    [sent] = await app.gateway.refunds()
    assert (sent["amount"], sent["transaction"]) == (500_000, second["data"]["id"])
    await app.check_ledger()


async def test_a_transfer_after_the_end_of_the_account_pays_an_expired_order(app: PaymentsApp) -> None:
    placed = await app.place_order()
    intent = await request_account(app, placed)
    app.clock.advance(timedelta(minutes=16))
    await app.receive(OrderExpired(**app.parties(placed), reason="payment_window"))
    await app.process_webhook(await app.gateway.transfer(intent["reference"]))
    assert await app.order_status(placed.order_id) == "paid_escrow"


async def test_a_repeated_intent_has_the_same_account_until_its_end(app: PaymentsApp) -> None:
    placed = await long_order(app)
    first = await request_account(app, placed)
    assert first["bankTransfer"]["expiresAt"] == "2026-01-01T00:20:00.000Z"
    app.clock.advance(timedelta(minutes=19))
    assert await request_account(app, placed) == first
    assert len(charge_calls(app)) == 1


async def test_an_intent_after_the_end_of_the_account_has_a_new_one(app: PaymentsApp) -> None:
    placed = await long_order(app)
    first = await request_account(app, placed)
    app.clock.advance(timedelta(minutes=20))
    await app.gateway.faults(charge_call=None)
    second = await request_account(app, placed)
    assert second["bankTransfer"]["accountNumber"] != first["bankTransfer"]["accountNumber"]
    statuses = await app.fetch("SELECT status FROM payment_intents ORDER BY created_at")
    assert [row["status"] for row in statuses] == ["closed", "pending"]
    await app.process_webhook(await app.gateway.transfer(first["reference"]))
    assert await app.order_status(placed.order_id) == "paid_escrow"


async def test_a_bank_transfer_replaces_the_intent_of_another_channel(app: PaymentsApp) -> None:
    placed = await app.place_order()
    by_card = await app.open_intent(placed.order_id)
    intent = await request_account(app, placed)
    assert (by_card["bankTransfer"], intent["bankTransfer"]["amountMinor"]) == (None, 500_000)
    assert intent["id"] != by_card["id"]
    assert await app.open_intent(placed.order_id) == intent


async def test_concurrent_requests_have_one_account(app: PaymentsApp) -> None:
    placed = await app.place_order()
    intents = await asyncio.gather(*(request_account(app, placed) for _ in range(8)))
    assert len({intent["bankTransfer"]["accountNumber"] for intent in intents}) == 1
    assert charge_calls(app) == ["POST /charge"]


async def test_a_gateway_without_accounts_gives_the_link_alone(app: PaymentsApp) -> None:
    await app.gateway.faults(charge_call={"fail": "Bank transfer is not enabled"})
    intent = await request_account(app, await app.place_order())
    assert (intent["status"], intent["bankTransfer"]) == ("pending", None)


@pytest.mark.parametrize("fault", ["error_after", "error_before"])
async def test_a_lost_response_is_recovered_without_a_second_account(app: PaymentsApp, fault: str) -> None:
    placed = await app.place_order()
    await app.gateway.faults(charge_call={fault: True, "times": 1})
    assert (await app.request_intent(placed.order_id, channel=CHANNEL)).status_code == 503
    intent = await request_account(app, placed)
    rows = [row for row in await app.gateway.transactions() if row["source"]["entry_point"] == "charge"]
    assert [row["reference"] for row in rows] == [intent["reference"]]


async def test_a_crash_before_the_stored_response_is_recovered_by_a_query(
    app: PaymentsApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Crash(BaseException):
        """The process ends."""

    async def crash(*_: Any) -> Any:
        raise Crash

    placed, key = await app.place_order(), uuid4()
    with monkeypatch.context() as patched:
        patched.setattr("payments.use_cases.intents.start_payment._record", crash)
        with pytest.raises(Crash):
            await app.request_intent(placed.order_id, channel=CHANNEL, key=key)
    app.clock.advance(timedelta(seconds=16))
    [recorded] = await app.fetch("SELECT reference FROM payment_intents")
    intent = await request_account(app, placed, key=key)
    assert intent["reference"] == recorded["reference"]
    assert charge_calls(app) == ["POST /charge", f"GET /charge/{recorded['reference']}"]


async def test_an_unanswered_page_keeps_the_account(app: PaymentsApp) -> None:
    placed = await app.place_order()
    await app.gateway.faults(initialize_call={"error_after": True, "times": 1})
    assert (await app.request_intent(placed.order_id, channel=CHANNEL)).status_code == 503
    intent = await request_account(app, placed)
    assert charge_calls(app) == ["POST /charge", f"GET /charge/{intent['reference']}"]


@pytest.mark.parametrize("is_account", [True, False])
async def test_a_lost_webhook_of_account_and_link_is_found_by_the_query(app: PaymentsApp, is_account: bool) -> None:
    placed = await app.place_order()
    intent = await request_account(app, placed)
    references = {row["reference"] for row in await app.gateway.transactions()}
    [page] = references - {intent["reference"]}
    await app.gateway.pay(intent["reference"] if is_account else page)
    app.clock.advance(timedelta(seconds=31))
    assert await query_unpaid_attempts_once(app.dependencies) == 1
    await app.work("payments.webhooks")
    assert await app.order_status(placed.order_id) == "paid_escrow"
