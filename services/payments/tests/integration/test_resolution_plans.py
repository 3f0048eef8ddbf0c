"""The plan of a resolution equals what its approval posts (contract sections 6 and 7)."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from contracts.orders import DisputeResolved, OrderDisputed

from .conftest import PaymentsApp
from .steps import get_as_roles


async def _plan(app: PaymentsApp, order_id: UUID, refund_minor: int, role: str = "finance_checker") -> Any:
    return await get_as_roles(app, f"/api/orders/{order_id}/resolution-plan?refundMinor={refund_minor}", role)


@pytest.mark.parametrize("released_minor", [0, 123_457, 400_001])
@pytest.mark.parametrize("refund_minor", [1, 200_003, 499_999])
async def test_a_split_gives_each_to_the_kobo_what_its_plan_showed(
    app: PaymentsApp, refund_minor: int, released_minor: int
) -> None:
    placed = await app.paid_order()
    if released_minor:
        headers = app.headers(uuid4(), roles=("finance_checker",), stepped_up=True)
        path, body = f"/api/orders/{placed.order_id}/release", {"amountMinor": released_minor}
        assert (await app.client.post(path, headers=headers, json=body)).status_code == 200
    parties = app.parties(placed)
    await app.receive(OrderDisputed(**parties, reason="never came"), sequence=5)
    plan = (await _plan(app, placed.order_id, refund_minor)).json()["data"]
    before = await app.balances()
    refund = app.refund_requested(placed, refund_minor)
    await app.receive(refund)
    release_minor = max(0, 500_000 - released_minor - refund_minor)
    resolved = DisputeResolved(
        **parties, outcome="split", refund_minor=refund_minor, release_minor=release_minor, refund_id=refund.refund_id
    )
    await app.receive(resolved, sequence=6)
    after = await app.balances()
    changes = {name: after.get(name, 0) - before.get(name, 0) for name in {*before, *after}}
    planned: dict[str, int] = {}
    for entry in plan["entries"]:
        assert entry["balanceMinor"] == before.get(entry["account"], 0) + planned.get(entry["account"], 0)
        planned[entry["account"]] = planned.get(entry["account"], 0) + entry["amountMinor"]
    planned[f"refund_payable:{refund.refund_id}"] = planned.pop("refund_payable")
    assert {name: change for name, change in changes.items() if change} == {
        name: change for name, change in planned.items() if change
    }
    parts = ("buyerMinor", "vendorMinor", "commissionMinor", "deliveryFeeMinor")
    assert sum(plan[name] for name in parts) == 500_000 - released_minor
    assert plan["vendorMinor"] == -changes.get(f"vendor_payable:{app.vendor}", 0)


async def test_support_reads_the_shares_without_the_ledger(app: PaymentsApp) -> None:
    placed = await app.paid_order()
    plan = (await _plan(app, placed.order_id, 200_000, "support_agent")).json()["data"]
    assert (plan["buyerMinor"], plan["entries"]) == (200_000, [])
    assert (await _plan(app, placed.order_id, 200_000, "hub_agent")).status_code == 403


async def test_more_than_the_order_has_is_refused(app: PaymentsApp) -> None:
    placed = await app.paid_order()
    refused = await _plan(app, placed.order_id, 500_001)
    assert (refused.status_code, refused.json()["invalid_params"][0]["name"]) == (422, "refundMinor")
    assert (await _plan(app, uuid4(), 1)).status_code == 404
