"""Stories of orders, for the tests of isolation and locks."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

from .conftest import PaymentsApp
from .disputes import CREATE, LOST, RESOLVE, WON, dispute, numbers, paid
from .steps import MISMATCH


async def quarantine_story(app: PaymentsApp) -> AsyncIterator[str]:
    """Yield a quarantined charge: one decision is rejected, another one accepts it for its order."""
    placed, charge_id = await app.quarantined(**MISMATCH)
    yield "quarantined"
    path = f"/api/quarantined-charges/{charge_id}"
    await decided(app, f"{path}/prepare", {"outcome": "return", "reason": "no order"}, "finance_maker", "prepared")
    yield "prepared"
    await decided(app, f"{path}/reject", {"reason": "ask the bank first"}, "finance_checker", "quarantined")
    yield "rejected"
    maker = uuid4()
    body = {"outcome": "accept", "reason": "the payer called"}
    await decided(app, f"{path}/prepare", body, "finance_maker", "prepared", maker)
    shown = await app.get_as(path, "finance_checker")
    assert (shown["decision"]["preparedBy"], shown["decision"]["outcome"]) == (str(maker), "accept")
    yield "prepared again"
    assert (await app.approve(path)).json()["data"]["status"] == "accepted"
    [charge] = await app.fetch("SELECT verdict, order_id FROM charges WHERE order_id = $1", placed.order_id)
    assert charge["verdict"] == "covered"
    assert await app.order_status(placed.order_id) == "paid_escrow"
    yield "accepted"


async def chargeback_story(app: PaymentsApp) -> AsyncIterator[str]:
    """Hold a refund by a dispute that is lost and revised to won; the refund is sent whole."""
    placed, reference = await paid(app)
    number = next(numbers)
    yield "paid"
    await app.process_webhook(dispute(number, CREATE, reference, 200_000))
    yield "disputed"
    event = app.refund_requested(placed, 300_000)
    await app.receive(event)
    await app.work("payments.refunds")
    assert (await refund_of(app, event.refund_id))["status"] == "pending"
    yield "refund held"
    await app.process_webhook(dispute(number, RESOLVE, reference, 200_000, resolution=LOST))
    assert (await refund_of(app, event.refund_id))["amountMinor"] == 100_000
    await app.work("payments.refunds")
    refund = await newest_refund(app, reference)
    assert refund["amount"] == 100_000
    yield "lost"
    await app.report_refund(refund)
    assert (await refund_of(app, event.refund_id))["status"] == "settled"
    assert await order_balances(app, placed.order_id) == {"escrow": -200_000}
    yield "refund settled"
    await app.decide_dispute(dispute(number, RESOLVE, reference, 200_000, resolution=WON))
    assert await chargeback_status(app, placed.order_id) == "won"
    # What the chargeback had paid of the refund is paid again.
    await app.work("payments.refunds")
    assert (await newest_refund(app, reference))["amount"] == 200_000
    yield "won"


async def decided(
    app: PaymentsApp, path: str, body: Any, role: str, status: str, user: UUID | None = None
) -> dict[str, Any]:
    response = await app.post_as(path, body, role, user)
    assert response.status_code == 200, response.text
    data: dict[str, Any] = response.json()["data"]
    assert data["status"] == status
    return data


async def refund_of(app: PaymentsApp, refund_id: UUID) -> dict[str, Any]:
    shown: dict[str, Any] = await app.get_as(f"/api/refunds/{refund_id}")
    return shown


async def newest_refund(app: PaymentsApp, reference: str) -> dict[str, Any]:
    """Return the gateway's newest refund of a transaction."""
    return [refund for refund in await app.gateway.refunds() if refund["transaction_reference"] == reference][-1]


async def order_balances(app: PaymentsApp, order_id: UUID) -> dict[str, int]:
    """Return the order's accounts with a balance, by kind."""
    return {
        account.partition(":")[0]: minor
        for account, minor in (await app.balances()).items()
        if account.endswith(f":{order_id}")
    }


async def chargeback_status(app: PaymentsApp, order_id: UUID) -> str:
    [row] = await app.fetch("SELECT status FROM chargebacks WHERE order_id = $1", order_id)
    return str(row["status"])
