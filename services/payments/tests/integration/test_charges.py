"""What a charge is worth, from the signed bytes to the book."""

from typing import Any


async def test_a_charge_of_the_exact_total_holds_the_escrow(story: Any) -> None:
    placed = await story.place_order()
    intent = await story.open_intent(placed.order_id)

    await story.tell(story.charge(intent["reference"], 500_000))

    assert await story.balances() == {"gateway_cash": 500_000, f"escrow:{placed.order_id}": -500_000}
    assert await story.order_status(placed.order_id) == "paid_escrow"
    assert await story.outcomes() == ["done"]
    [held] = await story.service.published("payments.escrow_held.v1")
    assert held == {
        "orderId": str(placed.order_id),
        "buyerId": str(story.buyer),
        "vendorId": str(story.vendor),
        "amountMinor": 500_000,
        "commissionMinor": 24_000,
        "deliveryFeeMinor": 20_000,
        "reference": intent["reference"],
        "heldAt": "2026-01-01T00:00:00.000Z",
    }
    await story.check_books()
