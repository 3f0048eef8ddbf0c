"""Lines that take released money back show gross, commission, delivery fee and net, and add up
(contract section 8.1).
"""

from typing import Any

from common.primitives.ids import new_id
from contracts.payments import ChargeDisputed, EscrowRefunded

from .conftest import Scenario, released

PARTS = ("grossMinor", "commissionMinor", "deliveryFeeMinor", "netMinor")
KINDS = ("release", "refund", "chargeback", "chargeback_won")


def of_order(event: type[Any], vendor: Any, order_id: Any, **values: Any) -> Any:
    fixed = {"buyer_id": new_id(), "remaining_minor": 0, "remaining_vendor_minor": 0}
    return event(order_id=order_id, vendor_id=vendor.id, **fixed, **values)


async def parts_of(scenario: Scenario, vendor: Any) -> list[tuple[str, int, int, int, int]]:
    """Return the lines of the order, oldest first."""
    lines = reversed(await scenario.statement(vendor))
    return [(line["kind"], *(line[part] for part in PARTS)) for line in lines if line["kind"] in KINDS]


async def test_reversals_show_what_had_reached_the_wallet(scenario: Scenario) -> None:
    vendor, order, chargeback = await scenario.vendor(), new_id(), new_id()
    shares = {"gross_minor": 500_000, "commission_minor": 24_000, "delivery_fee_minor": 20_000}
    await scenario.receive(released(vendor, 456_000, order_id=order, **shares))
    reversal = {"from_vendor_minor": 380_000, "from_commission_minor": 20_000, "from_delivery_fee_minor": 0}
    await scenario.receive(
        of_order(EscrowRefunded, vendor, order, refund_id=new_id(), amount_minor=400_000, **reversal)
    )
    lost = {"from_vendor_minor": 38_000, "from_commission_minor": 2_000, "from_delivery_fee_minor": 10_000}
    won = {"to_vendor_minor": 38_000, "to_commission_minor": 2_000, "to_delivery_fee_minor": 10_000}
    for outcome, moved in (("lost", lost), ("won", won)):
        values = {"chargeback_id": chargeback, "amount_minor": 50_000, "outcome": outcome}
        await scenario.receive(of_order(ChargeDisputed, vendor, order, **values, **moved))
    assert await parts_of(scenario, vendor) == [
        ("release", 500_000, 24_000, 20_000, 456_000),
        ("refund", -400_000, -20_000, 0, -380_000),
        ("chargeback", -50_000, -2_000, -10_000, -38_000),
        ("chargeback_won", 50_000, 2_000, 10_000, 38_000),
    ]
    month = await scenario.client.get(
        "/api/wallets/current/statements/2026-01", headers=scenario.headers(vendor.owner, **vendor.claims())
    )
    kinds = month.json()["data"]["kinds"]
    assert [sum(kind[part] for kind in kinds) for part in PARTS] == [100_000, 4_000, 20_000, 76_000]


async def test_a_refund_before_the_release_has_no_line(scenario: Scenario) -> None:
    """A partial release of 40,000 and a cancellation of 100,000: the wallet gives back what it got."""
    vendor, order = await scenario.vendor(), new_id()
    shares = {"gross_minor": 40_000, "commission_minor": 2_000}
    await scenario.receive(released(vendor, 38_000, order_id=order, **shares))
    reversal = {"from_vendor_minor": 38_000, "from_commission_minor": 2_000, "from_delivery_fee_minor": 0}
    await scenario.receive(
        of_order(EscrowRefunded, vendor, order, refund_id=new_id(), amount_minor=100_000, **reversal)
    )
    nothing = {"from_vendor_minor": 0, "from_commission_minor": 0, "from_delivery_fee_minor": 0}
    await scenario.receive(of_order(EscrowRefunded, vendor, new_id(), refund_id=new_id(), amount_minor=9, **nothing))
    lines = await parts_of(scenario, vendor)
    assert lines == [("release", 40_000, 2_000, 0, 38_000), ("refund", -40_000, -2_000, 0, -38_000)]


async def test_a_refund_of_the_platforms_part_alone_has_a_line_and_no_posting(scenario: Scenario) -> None:
    vendor, order = await scenario.vendor(), new_id()
    shares = {"gross_minor": 1_000, "commission_minor": 50, "delivery_fee_minor": 100}
    await scenario.receive(released(vendor, 850, order_id=order, **shares))
    reversal = {"from_vendor_minor": 0, "from_commission_minor": 0, "from_delivery_fee_minor": 1}
    event = of_order(EscrowRefunded, vendor, order, refund_id=new_id(), amount_minor=1, **reversal)
    for _ in range(2):
        await scenario.receive(event)
    assert (await parts_of(scenario, vendor))[1:] == [("refund", -1, 0, -1, 0)]
    assert (await scenario.wallet(vendor))["availableMinor"] == 850


async def test_an_event_of_the_version_before_is_divided_in_proportion_to_the_releases(scenario: Scenario) -> None:
    vendor, order = await scenario.vendor(), new_id()
    shares = {"gross_minor": 1_000, "commission_minor": 50, "delivery_fee_minor": 100}
    await scenario.receive(released(vendor, 850, order_id=order, **shares))
    values = {"refund_id": new_id(), "amount_minor": 500, "from_vendor_minor": 425}
    await scenario.receive(of_order(EscrowRefunded, vendor, order, **values))
    assert (await parts_of(scenario, vendor))[1:] == [("refund", -500, -25, -50, -425)]
    rows = await scenario.fetch("SELECT estimated FROM wallet_lines WHERE vendor_id = $1 ORDER BY position", vendor.id)
    assert [row["estimated"] for row in rows] == [False, True]
