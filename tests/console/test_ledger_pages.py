"""The ledger explorer, its CSV, chargebacks, and the pages of finance that need a permission."""

import csv
import io
import re

from operations.journey import Marketplace
from tests.console.conftest import Arrival
from tests.end_to_end.conftest import Users
from tests.end_to_end.steps import dispute_charge, paid_order, reference_of

AN_ID = r"[0-9a-f]{8}-[0-9a-f]{4}-"
PAGES = (
    "/quarantined-charges",
    "/refunds",
    "/reconciliations",
    "/chargebacks",
    "/payouts",
    "/payout-batches",
    "/transactions",
    "/ledger/accounts",
    "/ledger/entries?account=gateway_cash",
    "/ledger/trial-balance",
    "/reconciliation-cases",
    "/audits",
    "/sales?groupBy=campus",
)


async def test_a_page_of_finance_is_for_finance(visitor: Arrival) -> None:
    auditor, vendor = await visitor("auditor"), await visitor("vendor")
    for path in PAGES:
        assert (await auditor.open(path)).status == 200, path
        await auditor.check_page()
        assert (await vendor.fetch(path)).status == 403, path


async def test_an_auditor_follows_kobo_through_the_ledger(visitor: Arrival, market: Marketplace, users: Users) -> None:
    order = await paid_order(market, users)
    escrow = f"escrow:{order['id']}"
    auditor = await visitor("auditor")
    await auditor.open("/ledger/trial-balance")
    assert "broken" not in await auditor.text()
    await auditor.click("escrow", "link")
    await auditor.page.get_by_label("Name begins with").fill(escrow)
    await auditor.click("Filter")
    await auditor.click(f"escrow {order['number']}", "link")
    balance = f"₦{order['totalMinor'] // 100:,}.{order['totalMinor'] % 100:02d} Cr"
    assert balance in await auditor.text()
    await auditor.click("charge", "link")
    assert await auditor.page.locator(f"main [title='{escrow}']").count()
    assert "gateway cash" in await auditor.text()
    await auditor.check_page()

    response = await auditor.context.request.get(
        f"{auditor.console_url}/transactions", params={"orderId": order["id"], "format": "csv"}
    )
    rows = list(csv.DictReader(io.StringIO((await response.body()).decode("utf-8-sig"))))
    assert [(row["Type"], row["Amount"], row["Debit"], row["Credit"]) for row in rows] == [
        ("charge", f"{order['totalMinor'] // 100}.{order['totalMinor'] % 100:02d}", "gateway_cash", escrow)
    ]
    await auditor.open(f"/transactions?orderId={order['id']}")
    assert not re.search(AN_ID, await auditor.text())
    assert f"escrow {order['number']}" in await auditor.text()
    export = await auditor.context.request.get(f"{auditor.console_url}/transactions/export")
    assert export.headers["content-type"].startswith("text/csv")
    assert escrow in await export.text()


async def test_finance_contests_a_chargeback_before_its_due_date(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    order = await paid_order(market, users)
    await dispute_charge(market, await reference_of(market, users, order["id"]))

    async def opened() -> str | None:
        found = await market.get("/api/chargebacks", users.auditor, params={"orderId": order["id"]})
        return str(found[0]["id"]) if found else None

    chargeback_id = await market.until("the chargeback", opened, 60)
    maker = await visitor("maker")
    await maker.open(f"/chargebacks/{chargeback_id}")
    assert "left" in await maker.text()
    await maker.open_section("Send evidence…")
    for label, text in (
        ("Buyer's name", "Ngozi Bello"),
        ("Buyer's mail address", "ngozi@campus.example"),
        ("Buyer's phone", "+2348012345678"),
        ("What was sold and delivered", "Two books"),
    ):
        await maker.fill(label, text)
    await maker.click("Send the evidence")
    assert "on its way" in await maker.notice()

    async def submitted() -> bool | None:
        responses = (await market.get(f"/api/chargebacks/{chargeback_id}", users.auditor))["responses"]
        return all(one["status"] == "submitted" for one in responses) or None

    await market.until("the evidence at the gateway", submitted, 60)
    await maker.open(f"/chargebacks/{chargeback_id}")
    await maker.open_section("Contest or accept…")
    await maker.fill("Message to the bank", "Delivered with the PIN")
    await maker.page.get_by_label("Document").set_input_files(
        {"name": "receipt.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.4"}
    )
    await maker.click("Send the answer")
    assert "on its way" in await maker.notice()
    await market.until("the answer at the gateway", submitted, 60)
    await maker.open(f"/chargebacks/{chargeback_id}")
    assert await maker.page.locator("summary", has_text="Contest or accept…").count() == 0
    await maker.check_page()
