"""Payments names an order by its number for people in events, alerts and lists (contract section 1.7)."""

from typing import Any

import pytest

from common.primitives.ids import new_id

from .conftest import PaymentsApp

NUMBER = "CM-R80T-M2NG"
LISTS = ("/api/payments", "/api/refunds")


async def listed(app: PaymentsApp, path: str) -> list[dict[str, Any]]:
    headers = app.headers(new_id(), roles=["auditor"])
    response = await app.client.get(path, headers=headers)
    return list(response.json()["data"])


@pytest.mark.parametrize("number", [NUMBER, None])
async def test_events_and_lists_have_the_number_that_the_order_published(app: PaymentsApp, number: str | None) -> None:
    """None: the order was placed before orders published numbers."""
    placed = await app.paid_order(number=number)
    await app.receive(app.refund_requested(placed, 100_000))
    for fact in ("escrow_held", "escrow_refunded"):
        [event] = await app.published(f"payments.{fact}.v1")
        assert event.get("number") == number
    for path in LISTS:
        assert [row["orderNumber"] for row in await listed(app, path)] == [number]


async def test_a_quarantined_charge_names_the_order_by_its_number(app: PaymentsApp) -> None:
    placed = await app.place_order(number=NUMBER)
    intent = await app.open_intent(placed.order_id)
    await app.process_webhook(await app.pay(intent["reference"], 1_000))
    [event] = await app.published("payments.charge_quarantined.v1")
    assert event["number"] == NUMBER
    assert [row["orderNumber"] for row in await listed(app, "/api/quarantined-charges")] == [NUMBER]
    details = [alert["detail"] for alert in await app.published("operations.alert_raised.v1")]
    assert [NUMBER in detail and str(placed.order_id) not in detail for detail in details] == [True]
