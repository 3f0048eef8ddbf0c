import csv
import io
from datetime import timedelta
from uuid import UUID

from common.auth.caller import Caller
from common.primitives.ids import new_id
from contracts.permissions import permissions_of
from testkit.responses import FORBIDDEN, INVALID, data_of, error_of, invalid_field_of

from .conftest import Market


async def listed(market: Market, headers, path="", **query):
    return await market.client.get(f"/api/campus-orders{path}", headers=headers, params=query)


async def two_campuses(market: Market):
    """Return an order of the market's campus and one of another, of another vendor and a day later."""
    here = await market.ordered(await market.sell(price_minor=200_000))
    market.clock.advance(timedelta(days=1))
    elsewhere, vendor = new_id(), new_id()
    there = await market.ordered(await market.sell(price_minor=100_000, campus_id=elsewhere, vendor_id=vendor))
    assert there["campusId"] == str(elsewhere)
    return here, there


async def test_support_and_auditors_see_all_campuses_and_a_campus_admin_the_own_one(market: Market) -> None:
    here, there = await two_campuses(market)
    for headers in (market.as_staff("support_agent"), market.as_staff("auditor")):
        response = await listed(market, headers)
        assert [order["id"] for order in response.json()["data"]] == [there["id"], here["id"]]
        meta = response.json()["meta"]
        assert (meta["page"], meta["limit"], meta["total"], meta["total_pages"]) == (1, 20, 2, 1)
        assert "commissionMinor" in response.json()["data"][0]
    # A campus admin who bought something elsewhere has no rights over that campus.
    admin = market.headers(market.buyer_id, roles=("buyer", "campus_admin"), campus_id=market.campus_id)
    assert [order["id"] for order in (await listed(market, admin)).json()["data"]] == [here["id"]]
    assert (await listed(market, admin, campusId=there["campusId"])).json()["data"] == []
    assert (await listed(market, market.as_staff("campus_admin"))).json()["data"] == []
    for role in ("buyer", "merchant", "hub_agent", "finance_checker", "platform_admin"):
        for path in ("", "/export"):
            assert error_of(await listed(market, market.as_staff(role, market.campus_id), path)) == FORBIDDEN
    assert (await market.client.get("/api/campus-orders")).status_code == 401


async def test_the_list_is_filtered_and_sorted_by_what_the_contract_names(market: Market) -> None:
    here, there = await two_campuses(market)
    support = market.as_staff("support_agent")
    await market.pay(here)

    async def ids(**query):
        return [order["id"] for order in data_of(await listed(market, support, **query))]

    assert await ids(campusId=here["campusId"]) == [here["id"]]
    assert await ids(vendorId=there["vendorId"]) == [there["id"]]
    assert await ids(buyerId=here["buyerId"]) == [there["id"], here["id"]]
    assert await ids(buyerId=str(new_id())) == []
    assert await ids(q="jol rice", campusId=here["campusId"]) == [here["id"]]
    assert await ids(q="beans") == []
    assert await ids(status="paid_escrow") == [here["id"]]
    assert await ids(**{"from": there["createdAt"]}) == [there["id"]]
    assert await ids(to=there["createdAt"]) == [here["id"]]
    assert await ids(**{"from": "2026-01-05", "to": "2026-01-06"}) == [here["id"]]
    assert await ids(sort="total") == [here["id"], there["id"]]
    assert await ids(sort="total", order="asc", limit=1, page=2) == [here["id"]]
    # A date alone is its midnight in Lagos, an hour before that in UTC; a time needs an offset.
    assert await ids(**{"from": "2026-01-04T23:00:00Z", "to": "2026-01-05T23:00:00Z"}) == [here["id"]]
    assert await ids(**{"from": "2026-01-06T00:00:00+01:00"}) == await ids(**{"from": "2026-01-06"}) == [there["id"]]
    assert invalid_field_of(await listed(market, support, **{"from": "2026-01-05T00:00:00"})) == (422, "from")
    for query in ({"status": "open"}, {"sort": "buyer_id"}, {"from": "yesterday"}, {"campusId": "1"}, {"limit": 101}):
        assert error_of(await listed(market, support, **query)) == INVALID, query


async def test_the_export_is_the_same_orders_as_a_file_that_no_spreadsheet_runs(market: Market) -> None:
    here, there = await two_campuses(market)
    risky = await market.ordered(await market.sell(), deliveryNote='=HYPERLINK("https://x","y"),\n"z"')
    response = await listed(market, market.as_staff("support_agent"), "/export")
    assert (response.status_code, response.headers["content-type"]) == (200, "text/csv; charset=utf-8")
    assert "attachment" in response.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"), newline="")))
    assert [row["id"] for row in rows] == [here["id"], there["id"], risky["id"]]
    assert (rows[0]["totalMinor"], rows[0]["createdAt"]) == ("200000", here["createdAt"])
    assert rows[2]["deliveryNote"] == '\'=HYPERLINK("https://x","y"),\n"z"'
    admin = market.as_staff("campus_admin", market.campus_id)
    own_file = await listed(market, admin, "/export", vendorId=here["vendorId"])
    own = csv.DictReader(io.StringIO(own_file.content.decode("utf-8-sig")))
    assert [row["id"] for row in own] == [here["id"], risky["id"]]


_COPY_ORDERS = """
INSERT INTO orders (
    id, number, buyer_id, vendor_id, campus_id, status, currency, total_amount, subtotal_minor, delivery_fee_minor,
    commission_minor, refunded_minor, payment_due_at, idempotency_key, fingerprint, revision, created_at, updated_at
)
SELECT gen_random_uuid(), 'CM-0000-' || lpad(upper(to_hex(copy)), 4, '0'), buyer_id, vendor_id, campus_id, 'cancelled',
    currency, total_amount, subtotal_minor, delivery_fee_minor, commission_minor, refunded_minor, payment_due_at,
    gen_random_uuid(), fingerprint, revision, created_at + copy * interval '1 second', updated_at
FROM orders, generate_series(1, 9999) AS copy WHERE id = $1
"""


async def test_an_export_has_each_of_ten_thousand_orders_and_more_are_422(market: Market) -> None:
    here, _ = await two_campuses(market)
    await market.fetch(_COPY_ORDERS, UUID(here["id"]))
    auditor = market.as_staff("auditor")
    response = await listed(market, auditor, "/export", campusId=market.campus_id)
    numbers = [row["number"] for row in csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"), newline=""))]
    assert numbers == [here["number"], *(f"CM-0000-{copy:04X}" for copy in range(1, 10_000))]
    assert invalid_field_of(await listed(market, auditor, "/export")) == (422, "from")


async def test_a_bare_select_shows_a_campus_admin_the_own_campus_only(market: Market) -> None:
    here, _ = await two_campuses(market)
    admin = Caller(user_id=new_id(), permissions=permissions_of(["campus_admin"]), campus_id=market.campus_id)
    async with market.unit_of_work(admin) as uow:
        assert [str(row["id"]) for row in await uow.fetch("SELECT id FROM orders")] == [here["id"]]
        assert {str(row["order_id"]) for row in await uow.fetch("SELECT order_id FROM order_items")} == {here["id"]}
