"""Statements, months and their files (contract section 8)."""

import csv
import io
import itertools
import re
from base64 import b64encode
from datetime import timedelta
from hashlib import sha256
from random import Random

import asyncpg
import pytest

from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from common.primitives.money import format_naira
from payouts.responses.exports import PAGE_LINES
from testkit.responses import FORBIDDEN, INVALID, data_of, error_of, invalid_field_of

from .conftest import Scenario, released
from .steps import escrow_refunded

KEY = "6f8c0ad7-31a5-4a79-9e36-4c41b7cd5fa1"


def own(scenario: Scenario, vendor):
    return scenario.headers(vendor.owner, **vendor.claims())


async def read(scenario: Scenario, vendor, path, **params):
    return await scenario.client.get(f"/api/wallets/current/{path}", params=params, headers=own(scenario, vendor))


async def month_of(scenario: Scenario, vendor, month):
    return data_of(await read(scenario, vendor, f"statements/{month}"))


async def exported(scenario: Scenario, vendor, month):
    response = await read(scenario, vendor, f"statements/{month}/export")
    assert (response.status_code, response.headers["content-type"]) == (200, "text/csv; charset=utf-8")
    assert response.headers["content-disposition"] == f'attachment; filename="statement-{month}.csv"'
    return list(csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"), newline="")))


async def test_a_statement_line_has_the_status_of_its_payout(scenario: Scenario) -> None:
    vendor = await scenario.ready_vendor(1_000)
    payout = await scenario.payout(vendor, 400)
    line, _ = await scenario.statement(vendor)
    assert (line["kind"], line["payoutId"], line["payoutStatus"], line["netMinor"]) == (
        "payout",
        payout,
        "pending",
        -400,
    )
    await scenario.fetch(
        "UPDATE payout_requests SET status = 'failed', transfer_failure = '=1+1' WHERE id = $1 RETURNING id", payout
    )
    line, release = await scenario.statement(vendor)
    assert (line["payoutStatus"], line["payoutFailure"]) == ("failed", "=1+1")
    assert (release["payoutStatus"], release["payoutFailure"]) == (None, None)
    assert [row["payoutFailure"] for row in await exported(scenario, vendor, "2026-01")] == ["", "'=1+1"]


async def test_a_statement_shows_the_lines_of_one_order(scenario: Scenario) -> None:
    vendor = await scenario.vendor()
    event = released(vendor, 200)
    await scenario.receive(released(vendor, 100))
    await scenario.receive(event)
    await scenario.receive(escrow_refunded(vendor, 50, order_id=event.order_id))
    page = (await read(scenario, vendor, "statement", orderId=str(event.order_id), limit=1)).json()
    assert [(line["kind"], line["orderId"]) for line in page["data"]] == [("refund", str(event.order_id))]
    cursor = page["meta"]["next_cursor"]
    (line,) = data_of(await read(scenario, vendor, "statement", orderId=str(event.order_id), limit=1, cursor=cursor))
    assert (line["kind"], line["netMinor"], line["orderId"]) == ("release", 200, str(event.order_id))
    # A cursor belongs to its filters.
    assert error_of(await read(scenario, vendor, "statement", limit=1, cursor=cursor)) == INVALID
    assert data_of(await read(scenario, vendor, "statement", orderId=str(new_id()))) == []
    assert error_of(await read(scenario, vendor, "statement", orderId="one")) == INVALID


async def test_finance_reads_the_ledger_of_one_order(scenario: Scenario) -> None:
    vendor = await scenario.vendor()
    event = released(vendor, 900, gross_minor=1_000, commission_minor=60, delivery_fee_minor=40)
    await scenario.receive(released(vendor, 100))
    await scenario.receive(event)
    # More than the wallet has: the shortfall is the vendor's debt.
    await scenario.receive(escrow_refunded(vendor, 1_200, order_id=event.order_id))
    headers = scenario.headers(new_id(), roles=["finance_checker"])
    path, order = "/api/wallet-transactions", {"orderId": str(event.order_id)}
    transactions = data_of(await scenario.client.get(path, params=order, headers=headers))
    wallet, debt = f"wallet:{vendor.id}", f"vendor_debt:{vendor.id}"
    assert [{one["account"]: one["amountMinor"] for one in each["entries"]} for each in transactions] == [
        {"escrow_released": 900, wallet: -900},
        {"escrow_released": -1_200, debt: 200, wallet: 1_000},
    ]
    assert data_of(await scenario.client.get(path, params={"orderId": str(new_id())}, headers=headers)) == []
    assert error_of(await scenario.client.get(path, headers=headers)) == INVALID
    assert error_of(await scenario.client.get(path, params=order, headers=own(scenario, vendor))) == FORBIDDEN


async def test_a_filtered_statement_keeps_a_stable_cursor(scenario: Scenario, clock: ManualClock) -> None:
    vendor = await scenario.vendor()
    for _ in range(6):
        await scenario.release(vendor, 10)
        clock.advance(timedelta(hours=1))
    await scenario.receive(escrow_refunded(vendor, 5))
    period = {"from": "2026-01-01T01:00:00Z", "to": "2026-01-01T05:00:00Z"}
    seen, cursor = [], None
    while True:
        page = (
            await read(scenario, vendor, "statement", limit=2, **period, **({"cursor": cursor} if cursor else {}))
        ).json()
        seen += [line["balanceMinor"] for line in page["data"]]
        await scenario.release(vendor, 10)
        if not page["meta"]["has_more"]:
            break
        cursor = page["meta"]["next_cursor"]
    assert seen == [50, 40, 30, 20]
    assert (await read(scenario, vendor, "statement", limit=2, cursor=cursor)).status_code == 422
    [line] = (await read(scenario, vendor, "statement", kind="refund")).json()["data"]
    assert (line["kind"], line["netMinor"]) == ("refund", -5)
    assert (await read(scenario, vendor, "statement", **{"from": "2030-01-01"})).json()["data"] == []
    assert (await read(scenario, vendor, "statement", to="2026-01-01")).json()["data"] == []
    # A date alone is its midnight in Lagos: the day began an hour before the first line.
    assert (await read(scenario, vendor, "statement", to="2026-01-01T00:59:59+01:00")).json()["data"] == []
    assert len((await read(scenario, vendor, "statement", limit=100, **{"from": "2026-01-01"})).json()["data"]) > 6
    for params in ({"kind": "gift"}, {"from": "yesterday"}, {"to": "1767225600"}, {"to": "2026-01-01T05:00:00"}):
        assert (await read(scenario, vendor, "statement", **params)).status_code == 422, params


@pytest.mark.parametrize("seed", range(2))
async def test_a_months_closing_balance_opens_the_next_month(scenario: Scenario, clock: ManualClock, seed: int) -> None:
    """Whatever happens, also when one machine's clock is behind another's."""
    chance, vendor = Random(seed), await scenario.ready_vendor(3_000 + seed)
    for _ in range(40):
        clock.advance(timedelta(days=chance.choice([-2, 0, 1, 3, 9]), minutes=chance.randrange(600)))
        what = chance.choice(["release", "release", "refund", "payout"])
        amount_minor = chance.randrange(1, 1_500)
        if what == "release":
            await scenario.receive(
                released(vendor, amount_minor, gross_minor=amount_minor + 9, commission_minor=5, delivery_fee_minor=4)
            )
        elif what == "refund":
            await scenario.receive(escrow_refunded(vendor, amount_minor))
        else:
            await scenario.request_payout(vendor, amount_minor)
    clock.advance(timedelta(days=40))
    names = [f"{year}-{number:02d}" for year in (2025, 2026) for number in range(1, 13)]
    names = [name for name in names if name <= f"{clock.now():%Y-%m}"]
    months = [await month_of(scenario, vendor, name) for name in names]
    assert [month["isOver"] for month in months] == [True] * (len(months) - 1) + [False]
    wallet, everything = await scenario.wallet(vendor), 0
    assert months[0]["openingBalanceMinor"] == 0
    assert months[-1]["closingBalanceMinor"] == wallet["availableMinor"]
    for before, after in itertools.pairwise(months):
        assert (before["closingBalanceMinor"], before["to"]) == (after["openingBalanceMinor"], after["from"])
    for month in months:
        lines = await exported(scenario, vendor, month["month"])
        balance = month["openingBalanceMinor"]
        for line in lines:
            balance += int(line["netMinor"])
            assert int(line["balanceMinor"]) == balance
            assert month["from"] <= line["at"] < month["to"]
        assert balance == month["closingBalanceMinor"] == month["openingBalanceMinor"] + month["netMinor"]
        assert len(lines) == month["lines"] == sum(kind["lines"] for kind in month["kinds"])
        for kind in month["kinds"]:
            assert kind["netMinor"] == sum(int(line["netMinor"]) for line in lines if line["kind"] == kind["kind"])
        everything += len(lines)
    [row] = await scenario.fetch("SELECT count(*) AS lines FROM wallet_lines WHERE vendor_id = $1", vendor.id)
    assert everything == row["lines"] > 20


async def test_a_long_month_has_the_same_lines_as_file_and_page(scenario: Scenario, clock: ManualClock) -> None:
    vendor, count = await scenario.vendor(), 2 * PAGE_LINES + 1
    await scenario.fetch(
        "INSERT INTO wallet_lines (id, vendor_id, kind, source_key, order_id, gross_minor, net_minor, "
        "balance_minor, at) "
        "SELECT gen_random_uuid(), $1, 'release', 'release:' || n, gen_random_uuid(), 100, 100, n * 100, $2 "
        "FROM generate_series(1, $3::int) AS n RETURNING id",
        vendor.id,
        clock.now(),
        count,
    )
    month = await month_of(scenario, vendor, "2026-01")
    lines = await exported(scenario, vendor, "2026-01")
    assert (len(lines), lines[-1]["balanceMinor"]) == (count, str(month["closingBalanceMinor"]))
    page = await read(scenario, vendor, "statements/2026-01/print")
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert page.text.count('<td class="id">') == count
    assert vendor.legal_name in page.text
    assert page.text.rstrip().endswith("</html>")
    assert f"closing balance {format_naira(month['closingBalanceMinor'])}" in page.text
    [style] = re.findall(r"<style>(.*?)</style>", page.text, re.DOTALL)
    policy = page.headers["content-security-policy"]
    assert f"style-src 'sha256-{b64encode(sha256(style.encode()).digest()).decode()}'" in policy
    assert "default-src 'none'" in policy
    assert "<script" not in page.text


async def test_an_invalid_month_is_422_at_each_endpoint(scenario: Scenario) -> None:
    vendor = await scenario.vendor()
    for month in ("2026-13", "soon", "2026-1", "2099-01", "2026-01-01"):
        for suffix in ("", "/export", "/print"):
            response = await read(scenario, vendor, f"statements/{month}{suffix}")
            assert invalid_field_of(response) == (422, "month"), (month, suffix)


async def test_only_finance_and_auditors_read_a_vendors_wallet(scenario: Scenario) -> None:
    vendor, other = await scenario.ready_vendor(1_000), await scenario.vendor()
    await scenario.payout(vendor, 300)
    for role in ("auditor", "finance_maker", "finance_checker"):
        headers = scenario.headers(new_id(), roles=(role,))
        for path, expected in (
            ("wallet", await scenario.wallet(vendor)),
            ("statement", await scenario.statement(vendor)),
        ):
            response = await scenario.client.get(f"/api/vendors/{vendor.id}/{path}", headers=headers)
            assert (response.status_code, response.json()["data"]) == (200, expected)
            absent = await scenario.client.get(f"/api/vendors/{new_id()}/{path}", headers=headers)
            assert absent.status_code == 404
    for caller in (own(scenario, other), own(scenario, vendor), scenario.headers(new_id())):
        assert error_of(await scenario.client.get(f"/api/vendors/{vendor.id}/wallet", headers=caller)) == FORBIDDEN


async def test_row_policies_hide_other_vendors_lines_and_schedules(scenario: Scenario) -> None:
    vendor, other = await scenario.ready_vendor(500), await scenario.ready_vendor(700)
    for each in (vendor, other):
        await scenario.payout(each, 100)
        await scenario.fetch(
            "INSERT INTO payout_schedules (vendor_id, frequency, due_at, changed_by, updated_at) "
            "VALUES ($1, 'daily', now(), $1, now()) RETURNING 1",
            each.id,
        )
        await scenario.fetch(
            "INSERT INTO scheduled_payouts (vendor_id, period, outcome, reason, available_minor, due_at, decided_at) "
            "VALUES ($1, '2026-01-01', 'skipped', 'below_minimum', 0, now(), now()) RETURNING 1",
            each.id,
        )
    verifier, database = scenario.runtime.verifier, scenario.database

    async def seen(**claims):
        caller = await verifier.caller_of(scenario.token(new_id(), **claims))
        async with database.unit_of_work(acting_as=caller) as uow:
            return [
                {row["vendor_id"] for row in await uow.fetch(f"SELECT vendor_id FROM {table}")}
                for table in ("wallet_lines", "payout_schedules", "scheduled_payouts")
            ]

    assert await seen(**vendor.claims()) == [{vendor.id}] * 3
    assert await seen(roles=("finance_maker",)) == [{vendor.id, other.id}] * 3
    assert await seen() == await seen(roles=("platform_admin",)) == [set()] * 3
    caller = await verifier.caller_of(scenario.token(new_id(), **vendor.claims()))
    # Another vendor's schedule is out of reach, and the worker's decisions cannot be changed.
    async with database.unit_of_work(acting_as=caller) as uow:
        assert await uow.execute("UPDATE payout_schedules SET weekday = NULL WHERE vendor_id = $1", other.id) == 0
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        async with database.unit_of_work(acting_as=caller) as uow:
            await uow.execute("DELETE FROM scheduled_payouts")


async def test_a_payout_below_the_minimum_is_422_with_the_minimum(scenario: Scenario) -> None:
    vendor = await scenario.ready_vendor(1_000)
    assert (await scenario.request_payout(vendor, 1)).status_code == 201
    object.__setattr__(scenario.dependencies.settings, "payout_minimum_minor", 200)
    refused = await scenario.request_payout(vendor, 199)
    assert error_of(refused) == INVALID
    [param] = refused.json()["invalid_params"]
    assert (param["name"], "200 kobo" in param["reason"]) == ("amountMinor", True)
    assert (await scenario.wallet(vendor))["availableMinor"] == 999
    assert (await scenario.request_payout(vendor, 200)).status_code == 201
