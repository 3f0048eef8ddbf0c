"""Sales: the figures that payments' events state, their groups, and who reads them."""

import csv
import io
from datetime import timedelta

import pytest

from common.auth.caller import Caller
from common.messaging.faults import NotYetKnown
from common.observability.telemetry import STALE_EVENTS
from common.primitives.ids import new_id
from contracts.identity import CampusChanged, VendorApproved, VendorClosed
from contracts.payments import (
    ChargeDisputed,
    EscrowRefunded,
    EscrowReleased,
    EscrowStated,
    OutsideRefundRecorded,
)
from contracts.permissions import permissions_of
from testkit.responses import FORBIDDEN, NOT_FOUND, data_of, error_of, invalid_field_of

from .conftest import Market
from .steps import escrow_state, order_parties, paid_sale, state_escrow

FIGURES = (
    "orders",
    "units",
    "grossMinor",
    "commissionMinor",
    "refundedMinor",
    "netMinor",
    "deliveryFeeMinor",
    "lockedMinor",
)


async def test_a_refund_made_outside_reduces_the_sale(market: Market) -> None:
    order = await paid_sale(market, (100_000, 1))
    about = {"refund_id": new_id(), "amount_minor": 40_000, "remaining_minor": 60_000, "remaining_vendor_minor": 60_000}
    escrow = escrow_state(market, order, locked=60_000)
    await market.receive(OutsideRefundRecorded(**order_parties(order), **about, escrow=escrow), sequence=2)
    figures = await sums(market)
    assert (figures["refundedMinor"], figures["lockedMinor"]) == (40_000, 60_000)
    assert (await market.show(order))["refundedMinor"] == 40_000


async def test_an_order_and_its_sale_show_the_same_after_a_partial_chargeback_and_a_refund(market: Market) -> None:
    order = await paid_sale(market, (100_000, 1), (50_001, 1))
    total = order["totalMinor"]
    about = {**order_parties(order), "amount_minor": 40_000}
    refund = {"refund_id": new_id(), "from_vendor_minor": 0, "remaining_minor": 0, "remaining_vendor_minor": 0}
    lost = ChargeDisputed(**about, outcome="lost", escrow=escrow_state(market, order, locked=total - 40_000))
    refunded = EscrowRefunded(
        **{**about, **refund, "amount_minor": 10_000}, escrow=escrow_state(market, order, net=total - 50_000)
    )
    won = ChargeDisputed(**about, outcome="won", escrow=escrow_state(market, order, net=total - 10_000))
    for event, sequence, expected in ((lost, 2, 40_000), (refunded, 3, 50_000), (lost, 2, 50_000), (won, 4, 10_000)):
        await market.receive(event, sequence=sequence)
        assert (await market.show(order))["refundedMinor"] == expected
        assert (await sums(market))["refundedMinor"] == expected


async def sales(market: Market, headers=None, vendor_id=None, **query):
    url = "/api/sales" if vendor_id is None else f"/api/vendors/{vendor_id}/sales"
    return await market.client.get(url, params=query, headers=headers or market.as_staff("auditor"))


async def sums(market: Market, headers=None, vendor_id=None, **query):
    """Return the figures of all groups together."""
    rows = data_of(await sales(market, headers, vendor_id, limit=100, **query))
    return {name: sum(row[name] for row in rows) for name in FIGURES}


async def test_an_order_is_a_sale_from_its_payment_and_its_money_changes_figures(market: Market) -> None:
    assert data_of(await sales(market)) == []
    order = await paid_sale(market, (100_000, 2), (50_000, 1))
    [row] = data_of(await sales(market, market.as_merchant(), market.vendor_id))
    assert row == {
        "key": "2026-01-05",
        "label": "2026-01-05",
        "orders": 1,
        "units": 3,
        "grossMinor": 250_000,
        "commissionMinor": 0,
        "refundedMinor": 0,
        "netMinor": 0,
        "deliveryFeeMinor": 0,
        "lockedMinor": 250_000,
    }
    released = escrow_state(market, order, net=237_500, commission=12_500)
    await market.receive(
        EscrowReleased(
            **order_parties(order),
            release_id=new_id(),
            gross_minor=250_000,
            commission_minor=12_500,
            delivery_fee_minor=0,
            net_minor=237_500,
            remaining_minor=0,
            remaining_vendor_minor=0,
            escrow=released,
        ),
        sequence=2,
    )
    [row] = data_of(await sales(market, market.as_merchant(), market.vendor_id))
    assert [row[name] for name in FIGURES] == [1, 3, 250_000, 12_500, 0, 237_500, 0, 0]
    refunded = EscrowRefunded(
        **order_parties(order),
        refund_id=new_id(),
        amount_minor=50_000,
        from_vendor_minor=47_500,
        remaining_minor=0,
        remaining_vendor_minor=0,
        escrow=escrow_state(market, order, net=190_000, commission=10_000),
    )
    received = await market.receive(refunded, sequence=3)
    await market.receive(refunded, sequence=3, event_id=received.event_id)
    [row] = data_of(await sales(market, market.as_merchant(), market.vendor_id))
    assert [row[name] for name in FIGURES] == [1, 3, 250_000, 10_000, 50_000, 190_000, 0, 0]


async def test_a_late_or_repeated_event_never_changes_the_figures(market: Market) -> None:
    order = await paid_sale(market, (100_001, 1), (3, 1))
    counted = STALE_EVENTS.labels(EscrowStated.TYPE)
    counted_before = counted._value.get()
    await state_escrow(market, order, 5, net=95_000, commission=5_004)
    assert counted._value.get() == counted_before
    expected = await sums(market)
    await state_escrow(market, order, 4, locked=100_004)
    await state_escrow(market, order, 5, locked=100_004)
    assert await sums(market) == expected
    assert counted._value.get() == counted_before + 2
    assert (expected["netMinor"], expected["commissionMinor"], expected["lockedMinor"]) == (95_000, 5_004, 0)


async def test_an_event_before_its_order_is_redelivered(market: Market) -> None:
    order = await paid_sale(market, (100_000, 1))
    with pytest.raises(NotYetKnown):
        await state_escrow(market, {**order, "id": str(new_id())}, locked=1)


async def test_every_grouping_sums_to_the_same_figures(market: Market) -> None:
    other_campus, other_vendor = new_id(), new_id()
    await market.receive(CampusChanged(campus_id=market.campus_id, name="Akoka", active=True))
    await market.receive(market.vendor_event(VendorApproved))
    first = await paid_sale(market, (33_333, 3), (10_001, 1), category="meals")
    await state_escrow(market, first, net=90_000, commission=5_000)
    market.clock.advance(timedelta(days=2))
    second = await paid_sale(
        market, (77, 1), (40_000, 2), category="books", campus_id=other_campus, vendor_id=other_vendor
    )
    await state_escrow(market, second, locked=20_000, net=30_001, commission=1_003)
    expected = await sums(market)
    assert [expected[name] for name in FIGURES] == [2, 7, 190_077, 6_003, 44_073, 120_001, 0, 20_000]
    for group in ("campus", "vendor", "category", "day"):
        assert await sums(market, groupBy=group) == expected
    for group in ("day", "week", "month", "product"):
        # An order is counted with each of its products.
        orders = 2 if group == "product" else 1
        own = await sums(market, vendor_id=market.vendor_id, groupBy=group)
        assert own == {**await sums(market, to="2026-01-06"), "orders": orders}

    async def labels(group, **more):
        return {row["key"]: row["label"] for row in data_of(await sales(market, groupBy=group, **more))}

    assert await labels("campus") == {str(market.campus_id): "Akoka", str(other_campus): str(other_campus)}
    assert await labels("vendor") == {str(market.vendor_id): "Ada's Kitchen", str(other_vendor): str(other_vendor)}
    assert await labels("category") == {"meals": "meals", "books": "books"}
    assert await labels("week", vendor_id=market.vendor_id) == {"2026-01-05": "2026-W02"}
    assert await labels("month", vendor_id=market.vendor_id) == {"2026-01": "2026-01"}
    products = {item["productId"]: "Jollof Rice" for item in first["items"]}
    assert await labels("product", vendor_id=market.vendor_id) == products
    await market.receive(
        VendorClosed(vendor_id=market.vendor_id, owner_user_id=market.merchant_id, campus_id=market.campus_id)
    )
    assert (await labels("vendor"))[str(market.vendor_id)] == str(market.vendor_id)


async def test_a_day_starts_at_midnight_in_lagos(market: Market) -> None:
    market.clock.advance(timedelta(hours=10, minutes=59))
    await paid_sale(market, (100, 1))
    market.clock.advance(timedelta(minutes=2))
    await paid_sale(market, (1_000, 1))
    rows = data_of(await sales(market, groupBy="day"))
    assert [(row["key"], row["grossMinor"]) for row in rows] == [("2026-01-06", 1_000), ("2026-01-05", 100)]
    assert (await sums(market, **{"from": "2026-01-06"}))["grossMinor"] == 1_000
    assert (await sums(market, **{"from": "2026-01-05", "to": "2026-01-06"}))["grossMinor"] == 100
    assert (await sums(market, to="2026-01-05T22:59:30Z"))["grossMinor"] == 100


async def test_pages_and_sorts_are_those_of_an_offset_list(market: Market) -> None:
    for price in (300, 100, 200):
        await paid_sale(market, (price, 1))
        market.clock.advance(timedelta(days=1))
    response = await sales(market, limit=2, sort="gross")
    assert [row["grossMinor"] for row in data_of(response)] == [300, 200]
    meta = response.json()["meta"]
    assert (meta["page"], meta["limit"], meta["total"], meta["total_pages"]) == (1, 2, 3, 2)
    second = await sales(market, limit=2, page=2, sort="gross")
    assert [row["grossMinor"] for row in data_of(second)] == [100]
    oldest_first = await sales(market, sort="key", order="asc")
    assert [row["grossMinor"] for row in data_of(oldest_first)] == [300, 100, 200]


async def test_sales_are_a_file_for_who_accepts_csv(market: Market) -> None:
    await paid_sale(market, (100, 1), category="=cmd")
    await paid_sale(market, (200, 2), category="meals")
    headers = {**market.as_staff("finance_maker"), "Accept": "text/csv"}
    response = await sales(market, headers, groupBy="category", limit=1)
    assert (response.status_code, response.headers["content-type"]) == (200, "text/csv; charset=utf-8")
    assert response.headers["cache-control"] == "no-store"
    rows = list(csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"), newline="")))
    assert [(row["key"], row["label"], row["grossMinor"], row["units"]) for row in rows] == [
        ("'=cmd", "'=cmd", "100", "1"),
        ("meals", "meals", "400", "2"),
    ]
    for accept in ("*/*", "application/json, text/csv;q=0.5"):
        preferred = await sales(market, {**headers, "Accept": accept}, groupBy="category")
        assert preferred.headers["content-type"] == "application/json", accept


_COPY_LINES = """
WITH copies AS (
    INSERT INTO order_items (
        id, order_id, buyer_id, vendor_id, campus_id, position, product_id, name, quantity, unit_price_minor,
        line_total_minor
    )
    SELECT gen_random_uuid(), order_id, buyer_id, vendor_id, campus_id, copy + 1, gen_random_uuid(), name, quantity,
        unit_price_minor, line_total_minor
    FROM order_items, generate_series(1, 9999) AS copy
    RETURNING *
)
INSERT INTO sale_lines
SELECT copies.id, copies.order_id, copies.product_id, copies.vendor_id, copies.campus_id,
    lpad(copies.position::text, 5, '0'), copies.name, copies.quantity, sold_at, sequence, gross_minor, locked_minor,
    refunded_minor, delivery_fee_minor, commission_minor, net_minor
FROM copies, sale_lines
"""


async def test_a_file_of_sales_has_each_of_ten_thousand_groups_and_more_are_422(market: Market) -> None:
    await paid_sale(market, (100, 1), category="00001")
    await market.fetch(_COPY_LINES)
    headers = {**market.as_staff("finance_maker"), "Accept": "text/csv"}
    response = await sales(market, headers, groupBy="category")
    keys = [row["key"] for row in csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"), newline=""))]
    assert keys == [f"{number:05}" for number in range(1, 10_001)]
    await paid_sale(market, (100, 1), category="meals")
    assert invalid_field_of(await sales(market, headers, groupBy="category")) == (422, "from")


async def test_each_reader_sees_the_sales_of_their_part(market: Market) -> None:
    await market.receive(market.vendor_event(VendorApproved))
    other_vendor, other_campus = new_id(), new_id()
    await paid_sale(market, (100, 1))
    await paid_sale(market, (1_000, 1), vendor_id=other_vendor, campus_id=other_campus)
    everything = [market.as_staff(role) for role in ("finance_maker", "finance_checker", "auditor")]
    for headers in everything:
        assert (await sums(market, headers))["grossMinor"] == 1_100
        assert (await sums(market, headers, market.vendor_id))["grossMinor"] == 100
        assert error_of(await sales(market, headers, new_id())) == NOT_FOUND
    admin = market.as_staff("campus_admin", market.campus_id)
    assert (await sums(market, admin))["grossMinor"] == 100
    assert (await sums(market, admin, market.vendor_id))["grossMinor"] == 100
    outsider = market.as_staff("campus_admin", other_campus)
    assert error_of(await sales(market, outsider, market.vendor_id)) == NOT_FOUND
    assert (await sums(market, market.as_merchant(), market.vendor_id))["grossMinor"] == 100
    assert error_of(await sales(market, market.as_merchant(), other_vendor)) == NOT_FOUND
    assert error_of(await sales(market, market.as_merchant())) == FORBIDDEN
    for role in ("buyer", "hub_agent", "support_agent", "ops_oncall", "platform_admin"):
        for vendor_id in (None, market.vendor_id):
            assert error_of(await sales(market, market.as_staff(role, market.campus_id), vendor_id)) == FORBIDDEN, role


async def test_a_campus_admin_who_sells_elsewhere_oversees_one_campus_only(market: Market) -> None:
    elsewhere = new_id()
    await paid_sale(market, (100, 1))
    await paid_sale(market, (1_000, 1), campus_id=elsewhere)
    both = market.headers(
        market.merchant_id, roles=("merchant", "campus_admin"), vendor_id=market.vendor_id, campus_id=elsewhere
    )
    assert (await sums(market, both))["grossMinor"] == 1_000
    assert (await sums(market, both, market.vendor_id))["grossMinor"] == 1_100


async def test_a_bare_select_shows_sales_of_the_own_vendor_campus_or_to_finance_only(market: Market) -> None:
    await paid_sale(market, (100, 1))

    async def seen_by(role, **claims):
        caller = Caller(new_id(), new_id(), permissions=permissions_of([role]), **claims)
        async with market.dependencies.database.unit_of_work(acting_as=caller) as uow:
            return len(await uow.fetch("SELECT 1 FROM sale_lines"))

    assert await seen_by("merchant", vendor_id=market.vendor_id) == 1
    assert await seen_by("campus_admin", campus_id=market.campus_id) == 1
    assert await seen_by("finance_maker") == await seen_by("auditor") == 1
    assert await seen_by("merchant", vendor_id=new_id()) == await seen_by("campus_admin", campus_id=new_id()) == 0
    for role in ("buyer", "hub_agent", "support_agent"):
        assert await seen_by(role, vendor_id=market.vendor_id, campus_id=market.campus_id) == 0


async def test_unknown_groups_and_parameters_are_422(market: Market) -> None:
    for query, name in (
        ({"groupBy": "product"}, "groupBy"),
        ({"groupBy": "buyer"}, "groupBy"),
        ({"from": "yesterday"}, "from"),
        ({"sort": "label"}, "sort"),
        ({"vendorId": str(market.vendor_id)}, "vendorId"),
    ):
        assert invalid_field_of(await sales(market, **query)) == (422, name)
    for group in ("campus", "vendor", "category"):
        response = await sales(market, market.as_merchant(), market.vendor_id, groupBy=group)
        assert invalid_field_of(response) == (422, "groupBy")
