"""Refunds of items take their price and commission back, and never the delivery fee (contract section 7.2)."""

from typing import Any

import msgspec
import pytest

from common.messaging.faults import PermanentFault
from common.messaging.messages import read_payload
from common.primitives.ids import new_id
from contracts.orders import OrderPlaced, RefundRequested

from .conftest import PaymentsApp
from .disputes import LOST, RESOLVE, WON, dispute, numbers, paid

REFUNDED, DISPUTED = "payments.escrow_refunded.v1", "payments.charge_disputed.v1"


async def _return_items(app: PaymentsApp, placed: OrderPlaced, amount_minor: int, commission_minor: int) -> Any:
    parts = {"amount_minor": amount_minor, "commission_minor": commission_minor, "delivery_fee_minor": 0}
    await app.receive(RefundRequested(**app.parties(placed), refund_id=new_id(), reason="return", **parts))
    return (await app.published(REFUNDED))[-1]


async def test_a_refund_of_items_includes_no_delivery_fee(app: PaymentsApp) -> None:
    """500,000 were paid: items of 480,000 with a commission of 24,000, and a delivery fee of 20,000."""
    placed, _ = await paid(app)
    await app.receive(app.delivered(placed))
    refunded = await _return_items(app, placed, 400_000, 20_000)
    parts = (refunded["fromVendorMinor"], refunded["fromCommissionMinor"], refunded["fromDeliveryFeeMinor"])
    assert parts == (380_000, 20_000, 0)
    balances = await app.balances()
    assert balances[f"vendor_payable:{placed.vendor_id}"] == -76_000
    assert (balances["commission"], balances["delivery_fee"]) == (-4_000, -20_000)
    # The last refund, of all that is left, takes the rest of each part.
    await app.receive(app.refund_requested(placed, 100_000))
    last = (await app.published(REFUNDED))[-1]
    assert (last["fromVendorMinor"], last["fromCommissionMinor"], last["fromDeliveryFeeMinor"]) == (
        76_000,
        4_000,
        20_000,
    )
    await app.check_ledger()


async def test_a_refund_of_items_before_the_release_is_from_escrow(app: PaymentsApp) -> None:
    placed, _ = await paid(app)
    refunded = await _return_items(app, placed, 400_000, 20_000)
    assert (refunded["fromVendorMinor"], refunded["fromCommissionMinor"]) == (0, 0)
    assert (refunded["remainingMinor"], refunded["remainingVendorMinor"]) == (100_000, 76_000)
    await app.receive(app.delivered(placed))
    balances = await app.balances()
    assert (balances["commission"], balances["delivery_fee"]) == (-4_000, -20_000)
    await app.check_ledger()


async def test_a_part_that_is_too_small_is_made_good_by_the_others(app: PaymentsApp) -> None:
    placed, _ = await paid(app)
    await app.receive(app.delivered(placed))
    refunded = await _return_items(app, placed, 490_000, 25_000)
    parts = (refunded["fromVendorMinor"], refunded["fromCommissionMinor"], refunded["fromDeliveryFeeMinor"])
    assert parts == (456_000, 24_000, 10_000)
    await app.check_ledger()


async def test_a_chargeback_counts_as_a_part_of_a_refund_of_items(app: PaymentsApp) -> None:
    placed, reference = await paid(app)
    await app.receive(app.delivered(placed))
    await app.process_webhook(dispute(next(numbers), RESOLVE, reference, 200_000, resolution=LOST))
    refunded = await _return_items(app, placed, 400_000, 20_000)
    parts = (refunded["fromVendorMinor"], refunded["fromCommissionMinor"], refunded["fromDeliveryFeeMinor"])
    assert parts == (190_000, 10_000, 0)
    await app.check_ledger()


async def test_a_decided_chargeback_states_each_part_that_moved(app: PaymentsApp) -> None:
    placed, reference = await paid(app)
    await app.receive(app.delivered(placed))
    number = next(numbers)
    await app.process_webhook(dispute(number, RESOLVE, reference, 250_000, resolution=LOST))
    await app.decide_dispute(dispute(number, RESOLVE, reference, 250_000, resolution=WON))
    decided = await app.published(DISPUTED)
    for event, prefix in ((decided[-2], "from"), (decided[-1], "to")):
        parts = [event[f"{prefix}{part}Minor"] for part in ("Vendor", "Commission", "DeliveryFee")]
        assert parts == [228_000, 12_000, 10_000]


def test_a_refund_whose_parts_exceed_it_is_not_decoded() -> None:
    ids = dict.fromkeys(("orderId", "refundId", "buyerId", "vendorId"), str(new_id()))
    parts = {"commissionMinor": 60, "deliveryFeeMinor": 41}
    body = msgspec.json.encode({**ids, "amountMinor": 100, "reason": "return", **parts})
    with pytest.raises(PermanentFault):
        read_payload(msgspec.Raw(body), RefundRequested)
