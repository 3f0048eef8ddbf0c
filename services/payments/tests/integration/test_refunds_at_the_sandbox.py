"""Refunds against the sandbox's gateway with lost responses: it pays exactly once."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest

from common.primitives.ids import new_id
from contracts.orders import OrderPlaced, RefundRequested
from payments.clients.gateway import Gateways, GatewayUnavailable
from payments.clients.paystack import PaystackGateway
from payments.domain.errors import RefundOutcomeUnknown, UnrecordedRefund
from payments.timers import settle_refunds_once
from payments.use_cases.refunds.submit_refund import submit_refund
from testkit.sandbox import GATEWAY_KEY

from .conftest import PaymentsApp


async def _paid(app: PaymentsApp, sandbox: httpx.AsyncClient, **changes: Any) -> tuple[Any, str]:
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    paid = await sandbox.post(intent["authorizationUrl"], data={"action": "pay", "channel": "card", **changes})
    assert paid.status_code < 400, paid.text
    await app.webhook("charge.success")
    return placed, intent["reference"]


async def _requested(app: PaymentsApp, placed: OrderPlaced, amount_minor: int = 200_000) -> str:
    refund_id = new_id()
    parties = app.parties(placed)
    await app.receive(RefundRequested(**parties, refund_id=refund_id, amount_minor=amount_minor, reason="cancelled"))
    return str(refund_id)


async def _work(app: PaymentsApp) -> None:
    await app.requeue()
    await app.work("payments.refunds")


async def _decide(app: PaymentsApp, refund_id: str, body: dict[str, Any]) -> Any:
    prepared = await app.post_as(f"/api/refunds/{refund_id}/prepare", body, "finance_maker")
    assert prepared.status_code == 200, prepared.text
    approved = await app.approve(f"/api/refunds/{refund_id}")
    assert approved.status_code == 200, approved.text
    await app.work("payments.refunds")
    return prepared.json()["data"]


async def _drop_the_response(
    app: PaymentsApp, sandbox: httpx.AsyncClient, refund_id: str, fault: dict[str, Any]
) -> None:
    """Send the refund without a response; the timeout is short where none ever arrives."""
    await sandbox.put("/control/faults", json={"refund_call": {"times": 1, **fault}})
    service = app.app
    sender = PaystackGateway(service.settings.gateway_api_url, GATEWAY_KEY, seconds_max=1 if "timeout" in fault else 60)
    while True:
        with pytest.raises(GatewayUnavailable):
            await submit_refund(
                service.dependencies.database, Gateways([sender], sender.name), app.clock, UUID(refund_id)
            )
        if not (await sandbox.get("/control/faults")).json():
            break
        # On a busy machine the query before the call timed out.
        app.clock.advance(timedelta(seconds=121))
    await sender.close()


@pytest.mark.parametrize(
    "fault",
    [{"error_after": True}, {"error_before": True}, {"timeout": True}],
    ids=["500 after the effect", "500 before the effect", "never answered"],
)
async def test_a_call_without_a_response_is_queried_and_the_gateway_has_one_refund(
    fault: dict[str, Any], sandbox_app: tuple[Any, httpx.AsyncClient]
) -> None:
    app, sandbox = sandbox_app
    placed, reference = await _paid(app, sandbox)
    refund_id = await _requested(app, placed)
    await _drop_the_response(app, sandbox, refund_id, fault)
    if "error_before" in fault:
        with pytest.raises(RefundOutcomeUnknown):
            await _work(app)
        app.clock.advance(timedelta(seconds=121))
    await _work(app)
    await _work(app)
    await app.webhook("refund.processed")
    gateway = app.paystack
    assert len(await gateway.list_refunds(reference)) == 1
    assert (await app.get_as(f"/api/refunds/{refund_id}"))["status"] == "settled"
    assert await gateway.balance_minor("NGN") == (await app.balances())["gateway_cash"] == 300_000
    await app.check_ledger()


async def test_a_slow_response_and_a_lost_webhook_settle_by_polling(sandbox_app: tuple[Any, httpx.AsyncClient]) -> None:
    app, sandbox = sandbox_app
    placed, _ = await _paid(app, sandbox)
    await sandbox.put("/control/faults", json={"refund_call": {"delay": 0.3}, "refund_webhook": {"drop": True}})
    await _requested(app, placed, 500_000)
    await _work(app)
    app.clock.advance(timedelta(minutes=2))
    [refund] = await app.paystack.list_refunds((await app.fetch("SELECT reference FROM charges"))[0]["reference"])
    if refund.status == "pending":
        await sandbox.post(f"/control/refunds/{refund.gateway_refund_id}/process")
    assert await settle_refunds_once(app.dependencies) == 1
    assert await app.balances() == {}


async def test_a_foreign_charge_is_returned_in_its_currency(sandbox_app: tuple[Any, httpx.AsyncClient]) -> None:
    app, sandbox = sandbox_app
    await _paid(app, sandbox, currency="GHS")
    [charge] = await app.get_as("/api/quarantined-charges")
    path = f"/api/quarantined-charges/{charge['id']}"
    await app.post_as(f"{path}/prepare", {"outcome": "return", "reason": "not naira"}, "finance_maker")
    assert (await app.approve(path)).status_code == 200
    await app.work("payments.refunds")
    await app.webhook("refund.processed")
    assert await app.balances() == {}
    gateway = app.paystack
    assert (await gateway.balance_minor("GHS"), await gateway.balance_minor("NGN")) == (0, 0)


async def test_a_failed_refund_reaches_a_bank_account_through_the_sandbox(
    sandbox_app: tuple[Any, httpx.AsyncClient],
) -> None:
    app, sandbox = sandbox_app
    placed, reference = await _paid(app, sandbox)
    await sandbox.put("/control/faults", json={"refund_call": {"fail": "The card is closed", "times": 1}})
    refund_id = await _requested(app, placed, 500_000)
    await _work(app)
    await app.webhook("refund.failed")
    account = {"bank_code": "058", "account_number": "0123456789", "account_name": "Chidi Okafor"}
    assert (await sandbox.put("/control/accounts", json=account)).status_code < 400
    prepared = await _decide(
        app,
        refund_id,
        {
            "action": "other_destination",
            "reason": "the card is closed",
            "destination": {"accountNumber": "0123456789", "bankCode": "058", "accountName": "OKAFOR, Chidi"},
        },
    )
    assert prepared["decision"]["destination"]["verified"] is True
    await app.webhook("transfer.success")
    assert (await app.get_as(f"/api/refunds/{refund_id}"))["status"] == "settled"
    gateway = app.paystack
    assert (await gateway.balance_minor("NGN"), await app.balances()) == (0, {})
    assert [update.status for update in await gateway.list_refunds(reference)] == ["failed"]

    await sandbox.post(f"/control/transfers/{(await app.get_as(f'/api/refunds/{refund_id}'))['reference']}/reverse")
    await app.webhook("transfer.reversed")
    assert (await app.get_as(f"/api/refunds/{refund_id}"))["status"] == "failed"
    assert await gateway.balance_minor("NGN") == (await app.balances())["gateway_cash"] == 500_000
    await _decide(app, refund_id, {"action": "retry", "reason": "the card works again"})
    await app.webhook("refund.processed")
    assert (await gateway.balance_minor("NGN"), await app.balances()) == (0, {})
    await app.check_ledger()


async def _unrecorded_refund(app: PaymentsApp, reference: str, amount_minor: int) -> str:
    """Make a refund that the gateway has and the restored database has not. Return its refund's note."""
    note = f"re-{new_id().hex}"
    gateway = app.paystack
    await gateway.start_refund(transaction=reference, amount_minor=amount_minor, currency="NGN", note=note)
    return note


async def test_a_refund_after_a_restore_point_is_not_sent_again(
    sandbox_app: tuple[Any, httpx.AsyncClient],
) -> None:
    app, sandbox = sandbox_app
    placed, reference = await _paid(app, sandbox)
    note = await _unrecorded_refund(app, reference, 200_000)
    refund_id = await _requested(app, placed)
    await _work(app)
    await _work(app)
    await app.webhook("refund.processed")
    gateway = app.paystack
    assert [refund.note for refund in await gateway.list_refunds(reference)] == [note]
    assert (await app.get_as(f"/api/refunds/{refund_id}"))["status"] == "settled"
    assert await gateway.balance_minor("NGN") == (await app.balances())["gateway_cash"] == 300_000
    # A second refund of the same order is sent.
    await _requested(app, placed, 50_000)
    await _work(app)
    assert len(await gateway.list_refunds(reference)) == 2
    await app.check_ledger()


async def test_an_unrecorded_refund_blocks_further_refunds_of_its_charge(
    sandbox_app: tuple[Any, httpx.AsyncClient],
) -> None:
    app, sandbox = sandbox_app
    placed, reference = await _paid(app, sandbox)
    await _unrecorded_refund(app, reference, 120_000)
    refund_id = await _requested(app, placed, 200_000)
    needs = app.dependencies
    parts = (needs.database, needs.gateways, app.clock)
    for _ in range(2):
        with pytest.raises(UnrecordedRefund):
            await submit_refund(*parts, UUID(refund_id))
    assert len(await app.paystack.list_refunds(reference)) == 1
    assert (await app.get_as(f"/api/refunds/{refund_id}"))["status"] == "pending"
    # The action that caused the unknown refund is repeated.
    await submit_refund(*parts, UUID(await _requested(app, placed, 120_000)))
    await submit_refund(*parts, UUID(refund_id))
    assert sorted(refund.amount_minor for refund in await app.paystack.list_refunds(reference)) == [120_000, 200_000]
