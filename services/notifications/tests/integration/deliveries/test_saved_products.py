"""Notices about saved products (contract section 11.7)."""

from typing import Literal

from common.primitives.ids import new_id
from contracts.orders import SavedProductChanged

from ..conftest import Scenario


def changed(scenario: Scenario, kind: Literal["back_in_stock", "price_drop"], price_minor: int) -> SavedProductChanged:
    return SavedProductChanged(
        product_id=scenario.order_id,
        vendor_id=scenario.vendor_id,
        change_id=new_id(),
        kind=kind,
        name="Jollof rice",
        price_minor=price_minor,
        buyer_ids=(scenario.buyer_id, scenario.owner_id),
    )


async def test_every_saver_reads_each_change_once(scenario: Scenario) -> None:
    await scenario.project_users()
    for event in (changed(scenario, "back_in_stock", 250_000), changed(scenario, "price_drop", 200_000)):
        await scenario.receive_twice(event)
    subject = {"kind": "product", "id": str(scenario.order_id)}
    for user_id in (scenario.buyer_id, scenario.owner_id):
        items = (await scenario.feed(user_id)).json()["data"]
        assert sorted((item["template"], item["body"]) for item in items) == [
            ("back_in_stock", "Jollof rice of Ada's Kitchen is back in stock for ₦2,500.00."),
            ("price_drop", "Jollof rice of Ada's Kitchen now costs ₦2,000.00."),
        ]
        assert [item["subject"] for item in items] == [subject, subject]


async def test_a_change_sends_no_mail_or_text(scenario: Scenario) -> None:
    await scenario.project_users()
    await scenario.receive(changed(scenario, "price_drop", 200_000))
    rows = await scenario.fetch("SELECT channel FROM notification_delivery_logs")
    assert {row["channel"] for row in rows} <= {"push"}
