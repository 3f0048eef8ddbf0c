"""A vendor's month through the edge: as data, as a file and as a page, after a sale and a payout; and its hash-chained
ledger.
"""

import csv
import io
import re
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from campus_tools.launcher.system import System
from contracts.demo import ADA
from operations.audit import findings_of
from operations.journey import Marketplace
from testkit.fixtures import eventually
from tests.end_to_end.steps import delivered_order

from .conftest import Users

STATEMENTS = "/api/wallets/current/statements"


LAGOS_TIME = timedelta(hours=1)


def lasts() -> bool:
    """Return whether the month of the vendors does not turn within the next minutes."""
    now = datetime.now(UTC) + LAGOS_TIME
    return (now + timedelta(minutes=3)).month == now.month


async def test_a_month_is_equal_as_json_csv_and_page(market: Marketplace, users: Users, system: System) -> None:
    # It must contain sale and payout. Sales of earlier tests are in the wallet by now.
    await eventually(lasts, within=300, every=1)
    assert await findings_of(system.secrets, market.sandbox) == []
    before = await market.wallet(users.vendor)
    order = await delivered_order(market, users)
    wallet = await market.wallet_reaches(users.vendor, before["availableMinor"] + 1)
    payout = await market.request_payout(users.vendor, wallet["availableMinor"])
    await market.dispatch_payouts(users.maker, [payout["id"]])
    await market.payout_reaches(users.vendor, payout["id"], "processed")

    name = f"{datetime.now(UTC) + LAGOS_TIME:%Y-%m}"
    month = await market.get(f"{STATEMENTS}/{name}", users.vendor)
    wallet = await market.wallet(users.vendor)
    assert month["closingBalanceMinor"] == wallet["availableMinor"]
    assert month["openingBalanceMinor"] + sum(kind["netMinor"] for kind in month["kinds"]) == wallet["availableMinor"]

    response = await market.http.get(f"{STATEMENTS}/{name}/export", headers=users.vendor.headers)
    assert (response.status_code, response.headers["content-type"]) == (200, "text/csv; charset=utf-8")
    assert response.headers["cache-control"] == "no-store"
    lines = list(csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"), newline="")))
    assert (len(lines), lines[-1]["balanceMinor"]) == (month["lines"], str(wallet["availableMinor"]))
    [release] = [line for line in lines if line["orderId"] == order["id"]]
    gross, *parts = (int(release[part]) for part in ("grossMinor", "commissionMinor", "deliveryFeeMinor", "netMinor"))
    assert gross == sum(parts) == order["totalMinor"]
    [left] = [line for line in lines if line["payoutId"] == payout["id"]]
    assert (left["payoutStatus"], left["netMinor"]) == ("processed", str(-payout["amountMinor"]))

    page = await market.http.get(f"/api/v1/wallets/current/statements/{name}/print", headers=users.vendor.headers)
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    # Of two policies a browser would obey both, and the page would be bare.
    [policy] = page.headers.get_list("content-security-policy")
    [style] = re.findall(r"<style>(.*?)</style>", page.text, re.DOTALL)
    assert f"style-src 'sha256-{b64encode(sha256(style.encode()).digest()).decode()}'" in policy
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.text.count('<td class="id">') == month["lines"]
    assert order["id"] in page.text
    whole, kobo = divmod(wallet["availableMinor"], 100)
    assert f"closing balance ₦{whole:,}.{kobo:02d}." in page.text

    for wrong in ("2026-13", "november"):
        refused = await market.http.get(f"{STATEMENTS}/{wrong}", headers=users.vendor.headers)
        assert (refused.status_code, refused.json()["invalid_params"][0]["name"]) == (422, "month")
        assert refused.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert await market.get(f"/api/vendors/{ADA.id}/wallet", users.auditor) == wallet
    assert (await market.get(f"/api/vendors/{ADA.id}/statement", users.maker, params={"kind": "payout"}))[0][
        "payoutId"
    ] == payout["id"]

    async def linked():
        code, output = system.command("payouts", "verify-ledger")
        length, head = output.splitlines()[-1].split()[:2]
        return (length, head) if code == 0 and int(length) >= month["lines"] else None

    length, head = await market.until("the ledger of wallets to be linked", linked, 60, every=2.0)
    assert system.command("payouts", "verify-ledger", length, "00" * 32)[0] == 1
    assert system.command("payouts", "verify-ledger", length, head)[0] == 0
    assert await findings_of(system.secrets, market.sandbox) == []


async def test_a_vendor_sets_the_schedule_of_payout_requests(market: Marketplace, users: Users) -> None:
    path = f"/api/vendors/{ADA.id}/payout-schedule"
    # Days away: no payout is requested before the schedule is removed.
    weekday = f"{datetime.now(UTC) + timedelta(days=3):%A}"
    body = {"frequency": "weekly", "weekday": weekday.lower(), "minimumMinor": 100_000}
    try:
        response = await market.http.put(path, json=body, headers=users.vendor.headers)
        assert response.status_code == 200, response.text
        next_at = datetime.fromisoformat(response.json()["data"]["nextAt"])
        assert (f"{next_at:%A %H:%M}", next_at > datetime.now(UTC)) == (f"{weekday} 05:00", True)
        assert (await market.get(path, users.auditor))["minimumMinor"] == 100_000
        assert (await market.http.get(path, headers=users.other_vendor.headers)).status_code == 404
    finally:
        await market.http.put(path, json={"frequency": "none"}, headers=users.vendor.headers)
