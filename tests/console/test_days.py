"""A day of each role: names, numbers and states as a person reads them, and every amount compared with the API."""

from collections.abc import AsyncIterator
from typing import Any

import pytest_asyncio

from console.formats import naira
from contracts.demo import ADA, AKOKA_HUB, LAGOS
from operations.journey import Marketplace, SignedInUser
from operations.waiting import eventually
from tests.console.amounts import amounts_on, balances_around, check_amounts, check_row
from tests.console.browser import NARROW, Visitor
from tests.console.conftest import Arrival
from tests.console.decisions import prepared_return, short_charge
from tests.end_to_end.conftest import Users
from tests.end_to_end.steps import COMPLAINT, delivered_order, exception_of, move_transfer, paid_order

AMOUNT_MINOR = 31_050
ROWS = {"limit": 50}


@pytest_asyncio.fixture(loop_scope="session")
async def manual_bank(market: Marketplace) -> AsyncIterator[None]:
    """Transfers settle when a test says so."""
    await market.sandbox.put("/control/settings", json={"transfer_settlement": "manual"})
    yield
    await market.sandbox.put("/control/settings", json={"transfer_settlement": "auto"})


async def requested_payout(market: Marketplace, users: Users) -> Any:
    """Return a payout that the vendor has requested from the share of a delivered order, as finance reads it."""
    before = (await market.wallet(users.vendor))["availableMinor"]
    await delivered_order(market, users)
    await market.wallet_reaches(users.vendor, before + 1)
    payout = await market.request_payout(users.vendor, AMOUNT_MINOR)
    return await market.get(f"/api/payouts/{payout['id']}", users.auditor)


async def work_of(market: Marketplace, user: SignedInUser) -> list[Any]:
    """Return the first items of each kind of work that waits for the user."""
    work = await market.get("/api/work", user)
    return [await market.get(f"{one['link']}&limit=3", user) for one in work]


def sums_of(rows: list[Any], *names: str) -> set[int]:
    return {sum(row[name] for row in rows) for name in names}


SALES = ("grossMinor", "commissionMinor", "deliveryFeeMinor", "refundedMinor", "netMinor", "lockedMinor")


async def check_sales(one: Visitor, rows: list[Any]) -> None:
    """Check the figures of sales, and that they fulfil the equation of the page."""
    await check_amounts(one, rows, sums=sums_of(rows, *SALES))
    assert "Paid by buyers = commission + delivery fees + refunded + to the wallet + in escrow" in await one.text()
    gross, *parts = (sum(row[name] for row in rows) for name in SALES)
    assert gross == sum(parts)


async def test_the_day_of_a_finance_maker(visitor: Arrival, market: Marketplace, users: Users) -> None:
    charge, payout = await short_charge(market, users), await requested_payout(market, users)
    maker = await visitor("maker")
    await maker.open("/")
    await check_amounts(maker, await market.get("/api/sales/balances", users.maker), await work_of(market, users.maker))
    await maker.open(f"/payouts?number={payout['number']}")
    names = (payout["vendorName"], payout["accountName"], payout["bankName"], f"…{payout['accountLast4']}")
    await check_row(maker, payout["number"], *names, naira(AMOUNT_MINOR), "not sent")
    await check_amounts(maker, payout)
    await maker.open(f"/payouts/{payout['id']}")
    await check_amounts(maker, payout, await market.get(f"/api/vendors/{payout['vendorId']}/wallet", users.maker))
    await maker.open(f"/quarantined-charges/{charge['id']}")
    plans = await market.get(f"/api/quarantined-charges/{charge['id']}/postings", users.maker)
    around = {amount for plan in plans for amount in balances_around(plan["entries"])}
    order = await market.get(f"/api/orders/{charge['orderId']}", users.maker)
    await check_amounts(maker, charge, plans, order, sums={*around, order["totalMinor"] - charge["amountMinor"]})
    await maker.open("/sales?groupBy=vendor")
    await check_sales(maker, await market.get("/api/sales", users.maker, params={"groupBy": "vendor", **ROWS}))
    await market.post(f"/api/payouts/{payout['id']}/cancel", {}, users.vendor)


async def test_the_day_of_a_finance_checker(visitor: Arrival, market: Marketplace, users: Users) -> None:
    prepared = await prepared_return(market, users)
    charge = await market.get(f"/api/quarantined-charges/{prepared['id']}", users.checker)
    checker = await visitor("checker")
    await checker.open("/")
    work = await work_of(market, users.checker)
    await check_amounts(checker, await market.get("/api/sales/balances", users.checker), work)
    await checker.open(f"/quarantined-charges/{charge['id']}")
    plans = await market.get(f"/api/quarantined-charges/{charge['id']}/postings", users.checker)
    around = {amount for plan in plans for amount in balances_around(plan["entries"])}
    order = await market.get(f"/api/orders/{charge['orderId']}", users.checker)
    await check_amounts(checker, charge, plans, order, sums={*around, order["totalMinor"] - charge["amountMinor"]})
    assert charge["orderNumber"] in await checker.text()
    await checker.open(f"/transactions?orderId={charge['orderId']}")
    lines = await market.get("/api/transactions", users.checker, params={"orderId": charge["orderId"]})
    await check_amounts(checker, lines)

    async def balance_is_shown() -> bool:
        await checker.open("/ledger/trial-balance")
        balance = await market.get("/api/ledger/trial-balance", users.checker)
        by_currency = [
            [row for row in balance if row["currency"] == each] for each in {row["currency"] for row in balance}
        ]
        sums = set[int]().union(*(sums_of(rows, "debitMinor", "creditMinor") for rows in by_currency))
        await check_amounts(checker, balance, sums={0, *sums})
        return True

    # Between the page and the response money of other orders may move.
    await eventually(balance_is_shown)


async def test_an_account_of_the_ledger_has_the_name_of_its_order_or_vendor(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    order = await delivered_order(market, users)
    one = await visitor("auditor")
    await one.open(f"/transactions?orderId={order['number']}&type=release")
    await check_row(one, "release", f"escrow {order['number']}", f"vendor payable {ADA.business_name}")
    await one.open(f"/orders/{order['id']}")
    text = await one.text()
    assert f"escrow {order['number']}" in text
    assert f"wallet {ADA.business_name}" in text
    assert order["id"] not in text


async def test_the_day_of_support(visitor: Arrival, market: Marketplace, users: Users) -> None:
    order = await paid_order(market, users)
    await market.post(f"/api/orders/{order['id']}/dispute", COMPLAINT, users.buyer)
    support = await visitor("support")
    await support.open("/")
    await check_amounts(support, await work_of(market, users.support))
    await support.open(f"/campus-orders?q={order['number']}")
    await check_row(support, order["number"], naira(order["totalMinor"]), "disputed", ADA.business_name)
    await support.open(f"/orders/{order['id']}")
    shown = await market.get(f"/api/orders/{order['id']}", users.support)
    payments = await market.get("/api/payments", users.support, params={"orderId": order["id"]})
    await check_amounts(support, shown, payments)
    await support.open(f"/balances/{order['buyerId']}")
    path = f"/api/balances/{order['buyerId']}"
    statement = await market.get(f"{path}/statement", users.support, params=ROWS)
    await check_amounts(support, await market.get(path, users.support), statement)


async def test_the_day_of_staff_on_call(visitor: Arrival, market: Marketplace, users: Users, manual_bank: None) -> None:
    payout = await requested_payout(market, users)
    [transfer] = (await market.dispatch_payouts(users.maker, [payout["id"]]))["transfers"]
    await market.sandbox.post(f"/control/transfers/{transfer['reference']}/fail", json={"reason": "Account is dormant"})
    exception = await exception_of(market, users, payout["id"])
    one = await visitor("ops")
    await one.open("/")
    await check_amounts(one, await work_of(market, users.ops))
    await one.open("/payout-exceptions?status=open")
    rows = await market.get("/api/payout-exceptions", users.ops, params={"status": "open", **ROWS})
    await check_row(one, payout["number"], naira(AMOUNT_MINOR), payout["vendorName"])
    await check_amounts(one, rows)
    await one.open(f"/payout-exceptions/{exception['id']}")
    shown = await market.get(f"/api/payout-exceptions/{exception['id']}", users.ops)
    await check_amounts(one, shown)

    async def alert() -> Any:
        found = await market.get("/api/alerts", users.ops, params={"status": "open", "limit": 100})
        return next((one for one in found if one["subject"] == payout["id"]), None)

    raised = await market.until("the alert", alert, 60)
    await one.open(f"/alerts/{raised['id']}")
    assert "_" not in await one.heading()
    text = await one.page.get_by_role("region", name="Alert", exact=True).inner_text()
    assert "Account is dormant. Respond by" in text
    assert "T" not in text.partition("Respond by ")[2].partition(" in Lagos")[0]
    await move_transfer(market, transfer["reference"], "succeed")
    await market.payout_reaches(users.vendor, payout["id"], "processed")


async def test_the_day_of_a_campus_admin(visitor: Arrival, market: Marketplace, users: Users) -> None:
    order = await paid_order(market, users)
    one = await visitor("campus")
    await one.open(f"/campus-orders?q={order['number']}")
    await check_row(one, order["number"], naira(order["totalMinor"]), ADA.business_name)
    await one.open("/campus-sales?groupBy=vendor")
    await check_sales(one, await market.get("/api/sales", users.campus, params={"groupBy": "vendor", **ROWS}))
    await one.open(f"/campuses/{LAGOS.id}")
    await check_amounts(one, await market.get(f"/api/campuses/{LAGOS.id}/hubs", users.campus))
    assert AKOKA_HUB.name in await one.text()


async def test_the_day_of_a_hub_agent(visitor: Arrival, market: Marketplace, users: Users) -> None:
    order = await paid_order(market, users, hubId=str(AKOKA_HUB.id))
    await market.dispatch(users.vendor, order["id"])
    one = await visitor("hub")
    await one.page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    await one.open("/parcels")
    assert order["number"] in await one.text()
    assert await amounts_on(one) == []
    await one.open(f"/orders/{order['id']}/fulfil")
    assert order["number"] in await one.heading()
    await check_amounts(one, await market.get(f"/api/orders/{order['id']}", users.hub))


async def test_the_day_of_a_vendor_on_a_phone(visitor: Arrival, market: Marketplace, users: Users) -> None:
    delivered, order = await delivered_order(market, users), await paid_order(market, users)
    one = await visitor("vendor")
    await one.page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    wallet = await market.wallet(users.vendor)
    await one.open("/")
    await check_amounts(one, wallet, await work_of(market, users.vendor))
    await one.open(f"/orders/{order['id']}/fulfil")
    shown = await market.order(users.vendor, order["id"])
    share = shown["subtotalMinor"] - shown["commissionMinor"]
    await check_amounts(one, shown, sums={share})
    await one.open(f"/orders/{delivered['id']}/fulfil")
    statement = await market.get("/api/wallets/current/statement", users.vendor, params=ROWS)
    paid = await market.order(users.vendor, delivered["id"])
    await check_amounts(one, paid, statement, sums={paid["subtotalMinor"] - paid["commissionMinor"]})
    await one.open("/wallet")
    await check_amounts(one, wallet, statement)
    await one.open("/wallet/payouts")
    await check_amounts(one, wallet, await market.get("/api/payouts", users.vendor, params=ROWS))
    await one.open("/sales-report")
    path = f"/api/vendors/{ADA.id}/sales"
    await check_sales(one, await market.get(path, users.vendor, params={"from": await _first_day(one), **ROWS}))
    await one.open("/products")
    await check_amounts(one, await market.get("/api/products/mine", users.vendor, params=ROWS))


async def _first_day(one: Visitor) -> str:
    """Return the first day that the page says it counts from."""
    return (await one.text()).partition("since ")[2][:10]
