"""Support and finance read a buyer's balance, and the parts of a charge (contract section 7)."""

from uuid import uuid4

import pytest

from .balances import credit_refund, credit_reward, statement_of
from .conftest import PaymentsApp
from .disputes import CREATE, dispute
from .purchases import paid_purchase
from .steps import get_as_roles

READERS = ("support_agent", "finance_maker", "finance_checker", "auditor")


@pytest.mark.parametrize("role", READERS)
async def test_staff_read_the_balance_of_a_buyer(app: PaymentsApp, role: str) -> None:
    await credit_refund(app, 300_000)
    await credit_reward(app, 50_000)
    path = f"/api/balances/{app.buyer}"
    balance = (await get_as_roles(app, path, role)).json()["data"]
    assert balance == {"availableMinor": 350_000, "heldMinor": 0, "currency": "NGN"}
    first = (await get_as_roles(app, f"{path}/statement?limit=1", role)).json()
    second = (await get_as_roles(app, f"{path}/statement?cursor={first['meta']['next_cursor']}", role)).json()
    assert first["data"] + second["data"] == await statement_of(app)
    other = (await get_as_roles(app, f"/api/balances/{uuid4()}", role)).json()["data"]
    assert other["availableMinor"] == 0


@pytest.mark.parametrize("role", ["buyer", "merchant", "campus_admin", "ops_oncall", "platform_admin"])
async def test_others_read_no_balance_and_no_charges_of_a_buyer(app: PaymentsApp, role: str) -> None:
    await credit_refund(app, 300_000)
    [payment] = await app.fetch("SELECT id FROM payment_intents")
    for path in (f"balances/{app.buyer}", f"balances/{app.buyer}/statement", f"payments/{payment['id']}/charges"):
        assert (await get_as_roles(app, f"/api/{path}", role)).status_code == 403
    assert (await get_as_roles(app, f"/api/balances/{app.buyer}", role, user=app.buyer)).status_code == 403


@pytest.mark.parametrize("role", READERS)
async def test_the_parts_of_a_charge_make_up_its_amount(app: PaymentsApp, role: str) -> None:
    purchase, reference = await paid_purchase(app, 600_000, 300_000, 100_000)
    await app.receive(app.refund_requested(purchase.orders[1], 300_000))
    await app.process_webhook(dispute(7, CREATE, reference, 500_000))
    [payment] = (await get_as_roles(app, f"/api/payments?purchaseId={purchase.id}", role)).json()["data"]
    [charge] = (await get_as_roles(app, f"/api/payments/{payment['id']}/charges", role)).json()["data"]
    assert (charge["amountMinor"], charge["verdict"], charge["surplusMinor"]) == (1_000_000, "covered", 0)
    parts = {one["orderId"]: (one["chargedMinor"], one["refundedMinor"]) for one in charge["orders"]}
    assert parts == {
        str(order.order_id): (order.total_minor, refunded)
        for order, refunded in zip(purchase.orders, (0, 300_000, 0), strict=True)
    }
    assert sum(one["chargedMinor"] for one in charge["orders"]) == charge["amountMinor"]
    assert [(one["orderId"], one["amountMinor"]) for one in charge["refunds"]] == [
        (str(purchase.orders[1].order_id), 300_000)
    ]
    assert sum(one["amountMinor"] for one in charge["chargebacks"]) == 500_000
    assert (await get_as_roles(app, f"/api/payments/{uuid4()}/charges", role)).status_code == 404
