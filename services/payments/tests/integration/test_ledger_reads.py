"""Reads of the ledger by auditors and finance: filtered, at a past instant, and as a file."""

import csv
import io
from collections import ChainMap
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from common.auth.caller import THE_SERVICE
from common.ledger import posting as ledger
from common.ledger.hash_chain import extend_chain_once
from common.primitives.ids import new_id
from payments.domain import postings
from payments.responses import exports
from payments.responses.ledger import LedgerEntry, LedgerTransaction
from payments.store import ledger_totals
from payments.timers import update_ledger_totals_once
from testkit.service_kit import second_factor_at

from .conftest import PaymentsApp


async def _get(app: PaymentsApp, path: str, role: str = "auditor", **query: Any) -> Any:
    return await app.client.get(path, params=query, headers=app.headers(uuid4(), roles=(role,)))


async def _data(app: PaymentsApp, path: str, **query: Any) -> list[dict[str, Any]]:
    response = await _get(app, path, **query)
    assert response.status_code == 200, response.text
    rows: list[dict[str, Any]] = response.json()["data"]
    return rows


async def _database_time(app: PaymentsApp) -> str:
    [row] = await app.fetch("SELECT clock_timestamp() AS now")
    return str(row["now"].isoformat())


async def _release(app: PaymentsApp, order_id: Any, amount_minor: int) -> None:
    headers = app.headers(uuid4(), roles=("finance_checker",), stepped_up=True)
    response = await app.client.post(
        f"/api/orders/{order_id}/release", headers=headers, json={"amountMinor": amount_minor}
    )
    assert response.status_code == 200, response.text


async def _balances(app: PaymentsApp, **query: Any) -> dict[str, int]:
    rows = await _data(app, "/api/ledger/accounts", limit=100, **query)
    return {row["account"]: row["balanceMinor"] for row in rows}


async def test_accounts_are_shown_as_they_were_at_any_instant(app: PaymentsApp) -> None:
    beginning = await _database_time(app)
    placed = await app.paid_order()
    escrow, vendor = f"escrow:{placed.order_id}", f"vendor_payable:{app.vendor}"
    paid_at = await _database_time(app)
    await _release(app, placed.order_id, 200_000)
    released_at = await _database_time(app)
    await _release(app, placed.order_id, 300_000)

    assert await _balances(app, at=beginning) == {}
    assert await _balances(app, at=paid_at) == {escrow: -500_000, "gateway_cash": 500_000}
    between = await _balances(app, at=released_at)
    assert (between[escrow], between["gateway_cash"]) == (-300_000, 500_000)
    assert sum(between.values()) == 0
    now = await _balances(app)
    assert now == await _balances(app, at="2100-01-01T00:00:00Z")
    assert (now[escrow], now[vendor]) == (0, -456_000)
    assert sum(now.values()) == 0
    assert {name: total for name, total in now.items() if total} == await app.balances()


async def test_accounts_are_found_by_the_beginning_of_their_name(app: PaymentsApp) -> None:
    placed = await app.paid_order(number="CM-7K3F-9Q2D")
    await app.process_webhook(app.charge("50%_off\\", 700), is_last_attempt=True)
    [escrow] = await _data(app, "/api/ledger/accounts", account="escrow:")
    assert (escrow["account"], escrow["orderNumber"]) == (f"escrow:{placed.order_id}", placed.number)
    assert await _balances(app, account="gateway_cash") == {"gateway_cash": 500_700}
    assert list(await _balances(app, account="quarantine:50%_off\\")) == ["quarantine:50%_off\\"]
    assert await _balances(app, account="%") == {}
    response = await _get(app, "/api/ledger/accounts", account="escrow:", limit=1)
    assert response.json()["meta"]["total"] == 1
    for query in ({"at": "yesterday"}, {"account": "x" * 300}, {"sort": "amount"}, {"account": "a\x00"}):
        assert (await _get(app, "/api/ledger/accounts", **query)).status_code == 422


async def test_concurrent_first_postings_of_an_account_do_not_wait(
    app: PaymentsApp,
) -> None:
    database = app.database
    async with database.unit_of_work(acting_as=THE_SERVICE) as first:
        assert await ledger.post(first, postings.referral_reward(new_id(), 5))
        async with database.unit_of_work(acting_as=THE_SERVICE) as second:
            assert await ledger.post(second, postings.referral_reward(new_id(), 6))
        assert await extend_chain_once(database) == 1
    assert await extend_chain_once(database) == 1
    assert (await _balances(app))["referral_expense"] == 11


async def test_transactions_are_narrowed_by_type_account_order_and_time(app: PaymentsApp) -> None:
    placed, other = await app.paid_order(number="CM-7K3F-9Q2D"), await app.paid_order()
    between = await _database_time(app)
    await _release(app, placed.order_id, 100_000)
    refund = app.refund_requested(placed, 50_000)
    await app.receive(refund)
    await app.work("payments.refunds")
    [sent] = await app.gateway.refunds()
    await app.report_refund(sent)
    path = "/api/transactions"

    async def types(**query: Any) -> list[str]:
        return [row["type"] for row in await _data(app, path, order="asc", **query)]

    assert await types(orderId=placed.order_id) == ["charge", "release", "refund", "refund_settled"]
    assert await types(orderId=other.order_id) == ["charge"]
    assert await types(orderId=new_id()) == []
    assert await types(type="charge") == ["charge", "charge"]
    assert await types(account="gateway_cash") == ["charge", "charge", "refund_settled"]
    assert await types(reference=str(refund.refund_id)) == ["refund", "refund_settled"]
    assert await types(reference="unknown") == []
    numbers = [row["orderNumbers"] for row in await _data(app, path, orderId=placed.order_id)]
    accounts = {f"escrow:{placed.order_id}", f"refund_payable:{refund.refund_id}"}
    assert dict(ChainMap(*numbers)) == dict.fromkeys(accounts, placed.number)
    assert await types(account="gateway_cash", orderId=placed.order_id) == ["charge", "refund_settled"]
    assert await types(**{"from": between}) == ["release", "refund", "refund_settled"]
    assert await types(to=between) == ["charge", "charge"]
    assert await types(sort="amount", orderId=placed.order_id) == ["refund", "refund_settled", "release", "charge"]
    assert (await _get(app, path, type="charge", limit=1)).json()["meta"]["total"] == 2
    for query in ({"type": "gift"}, {"orderId": "x"}, {"from": "soon"}, {"sort": "type"}):
        assert (await _get(app, path, **query)).status_code == 422


async def test_an_order_lists_its_chargebacks_fees_and_foreign_money(
    app: PaymentsApp,
) -> None:
    placed, [foreign, second] = await app.two_transactions()
    await app.process_webhook(await app.pay(foreign, paid_in="GHS", fees=70))
    reference = (await app.open_intent(placed.order_id))["reference"]
    await app.process_webhook(await app.pay(reference, fees=7_500))
    await _release(app, placed.order_id, 500_000)
    dispute = {"refund_amount": 200_000, "currency": "NGN", "transaction": {"reference": reference}}
    for resolution in ("merchant-accepted", "declined"):
        await app.process_webhook({"event": "charge.dispute.resolve", "data": {**dispute, "resolution": resolution}})
    await app.paid_order()

    shown = await _data(app, "/api/transactions", order="asc", orderId=placed.order_id)
    assert [row["type"] for row in shown] == [
        "quarantine",
        "gateway_fee",
        "charge",
        "gateway_fee",
        "release",
        "chargeback",
        "chargeback_won",
    ]
    accounts = {entry["account"] for row in shown for entry in row["entries"]}
    assert f"quarantine:{foreign}:GHS" in accounts
    assert (await _get(app, "/api/transactions", orderId=placed.order_id, limit=1)).json()["meta"]["total"] == 7

    again = await app.pay(second)
    await app.process_webhook(again)
    await app.work("payments.refunds")
    lost = {"resolution": "accepted", "currency": "NGN", "transaction": {"id": again["data"]["id"]}}
    await app.process_webhook({"event": "charge.dispute.resolve", "data": lost})
    later = (await _data(app, "/api/transactions", order="asc", orderId=placed.order_id))[7:]
    # Its refund is at the gateway already: the second charge is a loss, without an account of the order.
    assert [row["type"] for row in later] == ["overpayment", "chargeback"]
    assert {entry["account"] for entry in later[1]["entries"]} == {"chargeback_loss", "gateway_cash"}


def _rows(response: Any) -> list[list[str]]:
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/csv")
    return list(csv.reader(io.StringIO(response.content.decode("utf-8-sig"))))


async def test_the_export_has_every_entry_of_the_period_once(app: PaymentsApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("payments.routes.ledger.EXPORT_BATCH_TRANSACTIONS", 3)
    async with app.unit_of_work() as uow:
        # One database transaction gives all of them the same instant.
        for _ in range(10):
            assert await ledger.post(uow, postings.referral_reward(new_id(), 7))
    now = datetime.now(UTC)
    period = {"from": (now - timedelta(days=15)).isoformat(), "to": (now + timedelta(days=15)).isoformat()}
    heading, *lines = _rows(await _get(app, "/api/transactions/export", **period))
    assert heading == list(exports.COLUMNS)
    assert len(lines) == 20
    assert len({line[0] for line in lines}) == 10
    assert sum(int(line[6]) for line in lines) == 0
    assert {line[5].split(":")[0] for line in lines} == {"referral_expense", "buyer_balance"}
    before = {"from": (now - timedelta(days=15)).isoformat(), "to": (now - timedelta(days=14)).isoformat()}
    assert _rows(await _get(app, "/api/transactions/export", **before)) == [list(exports.COLUMNS)]
    for wide in ({}, {"from": "2000-01-01"}, {"to": "2100-01-01"}, {"from": "2000-01-01", "to": "2100-01-01"}):
        assert _rows(await _get(app, "/api/transactions/export", **wide)) == [heading, *lines]


async def test_auditors_export_the_ledger_and_an_empty_period_is_rejected(app: PaymentsApp) -> None:
    path, month = "/api/transactions/export", {"from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z"}
    assert (await _get(app, path, **month)).status_code == 200
    for role in ("finance_maker", "finance_checker", "ops_oncall", "buyer"):
        assert (await _get(app, path, role, **month)).status_code == 403
    earlier = second_factor_at(app.clock.now() - timedelta(minutes=16))
    for factor in ({"stepped_up": False}, {"amr": [earlier]}):
        headers = app.headers(uuid4(), roles=("auditor",), **factor)
        rejected = await app.client.get(path, params=month, headers=headers)
        assert (rejected.status_code, rejected.json()["code"]) == (403, "AUTH_AAL2_REQUIRED")
    for query, name in (
        ({**month, "to": month["from"]}, "to"),
        ({**month, "from": "now-1d"}, "from"),
        ({**month, "from": "2026-01-01T00:00:00"}, "from"),
    ):
        rejected = await _get(app, path, **query)
        assert rejected.status_code == 422
        assert name in [param["name"] for param in rejected.json()["invalid_params"]]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "  =1"])
def test_what_a_spreadsheet_would_run_is_written_as_text(text: str) -> None:
    entry = LedgerEntry(account=text, amount_minor=-5)
    parts = {"currency": "NGN", "created_at": "t", "entries": [entry], "order_numbers": {}}
    transaction = LedgerTransaction(id=UUID(int=1), type="charge", posting_key=text, **parts)
    [line] = csv.reader(io.StringIO(exports.csv_of_transactions([transaction])))
    assert line == [str(UUID(int=1)), "charge", f"'{text}", "NGN", "t", f"'{text}", "-5"]


async def test_a_trial_balance_sums_all_entries_by_kind_and_currency(app: PaymentsApp) -> None:
    placed = await app.paid_order()
    before_release = await _database_time(app)
    await _release(app, placed.order_id, 200_000)
    await app.process_webhook(app.charge("ch-foreign", 700, currency="GHS"), is_last_attempt=True)
    lines = await _data(app, "/api/ledger/trial-balance")
    shown = {(line["currency"], line["kind"]): line for line in lines}
    escrow = shown["NGN", "escrow"]
    assert (escrow["accounts"], escrow["side"]) == (1, "credit")
    assert (escrow["debitMinor"], escrow["creditMinor"], escrow["balanceMinor"]) == (200_000, 500_000, -300_000)
    assert shown["GHS", "quarantine"]["balanceMinor"] == -700
    for currency in ("NGN", "GHS"):
        assert sum(line["balanceMinor"] for line in lines if line["currency"] == currency) == 0
    past = await _data(app, "/api/ledger/trial-balance", at=before_release)
    assert {line["kind"]: line["balanceMinor"] for line in past} == {"gateway_cash": 500_000, "escrow": -500_000}
    assert (await _get(app, "/api/ledger/trial-balance", role="support_agent")).status_code == 403


async def test_a_trial_balance_is_the_same_from_totals_and_from_entries(
    app: PaymentsApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three states: no totals, totals of a part of the ledger in small batches, and totals of all of it."""
    monkeypatch.setattr("payments.store.ledger_totals._CLAIM", ledger_totals._CLAIM.replace("+ 20000", "+ 2"))
    monkeypatch.setattr("payments.store.ledger_totals.LINKS_PER_BATCH", 2)
    days = [datetime(2026, 3, day, 12, tzinfo=UTC) for day in (1, 2, 3)]

    async def balances() -> list[Any]:
        return [await _data(app, "/api/ledger/trial-balance", **at) for at in ({}, *({"at": day} for day in days))]

    for _ in days:
        placed = await app.paid_order()
        await _release(app, placed.order_id, 200_000)
    await app.process_webhook(app.charge("ch-foreign", 700, currency="GHS"), is_last_attempt=True)
    async with app.connected("admin") as admin:
        await admin.execute("SET session_replication_role = replica")
        # Two transactions on each day, the last three on the third, with the first at the instant that is read.
        await admin.execute(
            "UPDATE ledger_transactions t SET created_at = $1::timestamptz + n / 2 * interval '1 day' FROM "
            "(SELECT id, least(row_number() OVER (ORDER BY position) - 1, 4) AS n FROM ledger_transactions) AS numbers "
            "WHERE numbers.id = t.id",
            days[0],
        )
    from_entries = await balances()
    assert [len(lines) for lines in from_entries] == [7, 5, 5, 7]
    await extend_chain_once(app.database)
    assert await update_ledger_totals_once(app.database) == 7
    assert (await balances(), await update_ledger_totals_once(app.database)) == (from_entries, 0)
    later = await app.paid_order()
    await _release(app, later.order_id, 100_000)
    [escrow, *_] = [line for line in await _data(app, "/api/ledger/trial-balance") if line["kind"] == "escrow"]
    assert (escrow["accounts"], escrow["debitMinor"], escrow["creditMinor"]) == (4, 700_000, 2_000_000)
    assert await balances() == [await _data(app, "/api/ledger/trial-balance"), *from_entries[1:]]
    await extend_chain_once(app.database)
    linked = await balances()
    await update_ledger_totals_once(app.database)
    assert await balances() == linked


async def test_the_money_held_agrees_with_the_trial_balance(app: PaymentsApp) -> None:
    nothing = dict.fromkeys(("escrowMinor", "buyerBalancesMinor", "refundsMinor", "vendorPayableMinor"), 0)
    assert await _data(app, "/api/sales/balances") == {**nothing, "gatewayMinor": 0, "currency": "NGN"}
    placed = await app.paid_order()
    await _release(app, placed.order_id, 200_000)
    await app.receive(app.refund_requested(placed, 60_000))
    await app.process_webhook(app.charge("ch-foreign", 700, currency="GHS"), is_last_attempt=True)
    lines = {line["kind"]: abs(line["balanceMinor"]) for line in await _data(app, "/api/ledger/trial-balance")}
    held = await _data(app, "/api/sales/balances")
    assert held == {
        "escrowMinor": lines["escrow"],
        "buyerBalancesMinor": 0,
        "refundsMinor": lines["refund_payable"],
        "vendorPayableMinor": lines["vendor_payable"],
        "gatewayMinor": 500_000,
        "currency": "NGN",
    }
    assert (held["escrowMinor"], held["refundsMinor"]) == (240_000, 60_000)
    assert (await _get(app, "/api/sales/balances", role="support_agent")).status_code == 403


async def test_one_transaction_is_shown_as_in_the_list(app: PaymentsApp) -> None:
    await app.paid_order()
    [listed] = await _data(app, "/api/transactions")
    shown = await _get(app, f"/api/transactions/{listed['id']}")
    assert shown.json()["data"] == listed
    assert (await _get(app, f"/api/transactions/{uuid4()}")).status_code == 404
    assert (await _get(app, f"/api/transactions/{listed['id']}", role="buyer")).status_code == 403
