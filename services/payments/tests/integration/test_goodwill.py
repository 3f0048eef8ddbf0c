"""Goodwill refunds at the platform's expense, by two people (decision 205)."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from common.primitives.ids import new_id
from contracts.identity import UserErased
from payments.domain.refunds import RequestedRefund
from payments.use_cases.refunds.refund_order import refund_order

from .balances import balance_of, check_audit, statement_of
from .conftest import PaymentsApp

PATH = "/api/goodwill-refunds"
REASON = "The parcel arrived two days late by our fault"
TOTAL = 500_000


async def _placed(app: PaymentsApp, total_minor: int = TOTAL) -> Any:
    return await app.paid_order(total_minor=total_minor, commission_minor=20_000, delivery_fee_minor=0)


async def _prepare(app: PaymentsApp, order_id: Any, amount_minor: int = 50_000, **more: Any) -> Any:
    headers = app.headers(more.pop("by", None) or uuid4(), roles=("support_agent",), stepped_up=True, **more)
    body = {"orderId": str(order_id), "amountMinor": amount_minor, "reason": REASON}
    return await app.client.post(PATH, headers=headers, json=body)


async def _prepared(app: PaymentsApp, order_id: Any, amount_minor: int = 50_000) -> dict[str, Any]:
    response = await _prepare(app, order_id, amount_minor)
    assert response.status_code == 201, response.text
    return dict(response.json()["data"])


async def _decide(app: PaymentsApp, goodwill: dict[str, Any], verb: str = "approve", **more: Any) -> Any:
    body = {"hash": goodwill["hash"]} if verb == "approve" else {"reason": "The buyer was not affected"}
    by = more.pop("by", None) or uuid4()
    headers = app.headers(by, roles=more.pop("roles", ("finance_checker",)), stepped_up=True, **more)
    return await app.client.post(f"{PATH}/{goodwill['id']}/{verb}", headers=headers, json=body)


async def test_the_platform_pays_and_the_order_keeps_its_money(app: PaymentsApp) -> None:
    placed = await _placed(app)
    await app.receive(app.delivered(placed))
    before = await app.balances()
    goodwill = await _prepared(app, placed.order_id)
    assert goodwill["entries"] == [
        {"account": "goodwill_expense", "amountMinor": 50_000},
        {"account": f"buyer_balance:{app.buyer}", "amountMinor": -50_000},
    ]
    assert await app.balances() == before
    responses = await asyncio.gather(*(_decide(app, goodwill) for _ in range(3)))
    assert [response.status_code for response in responses] == [200] * 3
    assert await app.balances() == {**before, "goodwill_expense": 50_000, f"buyer_balance:{app.buyer}": -50_000}
    assert (await balance_of(app))["availableMinor"] == 50_000
    [line] = await statement_of(app)
    assert (line["kind"], line["orderId"], line["amountMinor"]) == ("refund", str(placed.order_id), 50_000)
    [event] = await app.published("payments.goodwill_given.v1")
    assert (event["goodwillId"], event["buyerId"], event["amountMinor"]) == (goodwill["id"], str(app.buyer), 50_000)
    await check_audit(app)


async def test_goodwill_and_refunds_never_exceed_what_the_payment_has_left(app: PaymentsApp) -> None:
    placed = await _placed(app)
    assert (await _prepare(app, placed.order_id, TOTAL + 1)).status_code == 409
    first = await _prepared(app, placed.order_id, 100_000)
    assert (await _prepare(app, placed.order_id)).status_code == 409
    assert (await _decide(app, first)).status_code == 200
    second = await _prepared(app, placed.order_id, 300_000)
    # A refund since the preparation leaves less.
    async with app.unit_of_work() as uow:
        requested = RequestedRefund(placed.order_id, new_id(), 150_000, "split", is_all_to_balance=True)
        await refund_order(uow, requested, app.clock.now())
    refused = await _decide(app, second)
    assert (refused.status_code, "₦2,500.00" in refused.json()["detail"]) == (409, True)
    assert (await _decide(app, second, "reject")).json()["data"]["status"] == "rejected"
    assert (await _decide(app, await _prepared(app, placed.order_id, 250_000))).status_code == 200
    assert (await balance_of(app))["availableMinor"] == 500_000
    await check_audit(app)


async def test_one_order_receives_at_most_the_limit(app: PaymentsApp) -> None:
    limit = app.dependencies.goodwill_order_max_minor
    placed = await _placed(app, limit + 100_000)
    refused = await _prepare(app, placed.order_id, limit + 1)
    assert refused.status_code == 409
    assert refused.json()["invalid_params"][0]["name"] == "amountMinor"
    assert (await _decide(app, await _prepared(app, placed.order_id, limit))).status_code == 200
    assert (await _prepare(app, placed.order_id, 1)).status_code == 409


async def test_neither_the_maker_nor_a_party_decides(app: PaymentsApp) -> None:
    placed = await _placed(app)
    maker = uuid4()
    assert (await _prepare(app, placed.order_id, by=app.buyer)).status_code == 403
    assert (await _prepare(app, placed.order_id, vendor_id=app.vendor)).status_code == 403
    response = await _prepare(app, placed.order_id, by=maker)
    goodwill = response.json()["data"]
    both = ("support_agent", "finance_checker")
    for verb in ("approve", "reject"):
        assert (await _decide(app, goodwill, verb, by=maker, roles=both)).status_code == 403
        assert (await _decide(app, goodwill, verb, by=app.buyer)).status_code == 403
        assert (await _decide(app, goodwill, verb, vendor_id=app.vendor)).status_code == 403
        assert (await _decide(app, goodwill, verb, roles=("support_agent",))).status_code == 403
    assert (await _decide(app, {**goodwill, "hash": "0" * 64})).status_code == 409
    assert (await _prepare(app, uuid4())).status_code == 404
    assert (await balance_of(app))["availableMinor"] == 0


@pytest.mark.parametrize("role", ["support_agent", "finance_checker", "auditor", "finance_maker"])
async def test_staff_list_goodwill_and_the_checker_finds_what_waits(app: PaymentsApp, role: str) -> None:
    goodwill = await _prepared(app, (await _placed(app)).order_id)
    headers = app.headers(uuid4(), roles=(role,))
    for query in ({"orderId": goodwill["orderId"]}, {"awaiting": "approval"}, {"status": "prepared"}):
        found = (await app.client.get(PATH, params=query, headers=headers)).json()["data"]
        assert [one["id"] for one in found] == [goodwill["id"]]
    work = (await app.client.get("/api/work", headers=headers)).json()["data"]
    assert ("goodwill_refunds_to_approve" in [one["kind"] for one in work]) == (role == "finance_checker")
    assert (await app.client.get(PATH, headers=app.headers(app.buyer))).status_code == 403


async def test_goodwill_waits_for_erasure_and_ends_with_it(app: PaymentsApp) -> None:
    goodwill = await _prepared(app, (await _placed(app)).order_id)
    await app.receive(UserErased(user_id=app.buyer))
    assert (await _decide(app, goodwill)).status_code == 409
    shown = await _decide(app, goodwill, "reject")
    assert shown.json()["data"]["reason"] == "erased"
    await check_audit(app)
