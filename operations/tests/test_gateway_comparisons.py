"""Each object of the payment gateway is compared with ours in both directions, and its lists are read page by page."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import asyncpg
import pytest
import pytest_asyncio
from starlette.responses import JSONResponse

from operations.audit import statement as statements
from operations.audit.comparisons import COMPARISONS, OFFENCES_MAX
from operations.audit.findings import Offence
from operations.audit.gateway import FlutterwaveAccount, Gateway, GatewayNotCompared
from operations.audit.statement import Statement, statement_of
from testkit.fixtures import DatabaseFactory
from testkit.service_kit import served

from .as_audit import as_audit
from .gateway_double import KEY, GatewayDouble

CHARGES: Final = "every charge is recorded as the payment gateway reports it"
REFUNDS: Final = "every refund moved the amount that the payment gateway reports"
TRANSFERS: Final = "every transfer at the payment gateway is ours, with its state, amount and fee"
DISPUTES: Final = "every dispute has the outcome that the payment gateway reports"
SETTLEMENTS: Final = "every settlement is posted as the payment gateway reports it"
ID: Final = UUID("0a000000-0000-7000-8000-000000000001")
REPLACED_ID: Final = UUID("0a000000-0000-7000-8000-000000000002")
LONG_AGO: Final = "2026-01-01T00:00:00.000Z"


# In a row of the gateway: the time at which a test runs, not that at which it was collected.
NOW: Final = "now"


def at_present(row: dict[str, Any]) -> dict[str, Any]:
    return {name: datetime.now(UTC).isoformat() if value == NOW else value for name, value in row.items()}


@dataclass
class World:
    """The databases of payments and payouts, past every guard, and the gateway."""

    databases: dict[str, asyncpg.Connection]
    gateway: GatewayDouble
    has_second: bool = False

    async def use_second(self) -> None:
        """Everything of ours is at Flutterwave."""
        self.has_second = True
        await self.databases["payments"].execute("UPDATE charges SET gateway = 'flutterwave'")
        await self.databases["payouts"].execute("UPDATE payout_transfers SET gateway = 'flutterwave'")

    async def offences(self, rule: str) -> list[Offence]:
        [comparison] = [line for line in COMPARISONS if line.rule == rule]
        for path, rows in self.gateway.lists.items():
            self.gateway.lists[path] = [at_present(row) for row in rows]
        self.gateway.queried = {path: at_present(row) for path, row in self.gateway.queried.items()}
        async with served(self.gateway.app()) as url:
            second = FlutterwaveAccount(f"{url}/v3", KEY) if self.has_second else None
            gateway = Gateway(url, KEY, flutterwave=second)
            async with statement_of(gateway) as statement:
                await statement.refresh()
                async with as_audit(self.databases):
                    return await comparison.offences(self.databases, statement, gateway)

    async def kinds(self, rule: str) -> list[str]:
        return [offence.kind for offence in await self.offences(rule)]

    async def posted(self, type_: str, key: str, account: str, amount_minor: int) -> None:
        transaction_id = await self.databases["payments"].fetchval(
            "INSERT INTO ledger_transactions (id, type, posting_key, currency, content_hash) "
            "VALUES (gen_random_uuid(), $1, $2, 'NGN', 'x') RETURNING id",
            type_, key,
        )  # fmt: skip
        await self.databases["payments"].execute(
            "INSERT INTO ledger_entries (transaction_id, account, amount_minor, currency) VALUES ($1, $2, $3, 'NGN')",
            transaction_id, account, amount_minor,
        )  # fmt: skip

    async def charged(self, gateway_id: str | None = "7", reference: str = "pay-7", amount_minor: int = 900) -> None:
        await self.databases["payments"].execute(
            "INSERT INTO charges (id, identity, reference, gateway_id, webhook_id, amount_minor, currency, "
            "verdict, settled_at) "
            "VALUES ($1, $2, $3, $4, 'x', $5, 'NGN', 'covered', now())",
            ID, f"{reference}/{gateway_id}" if gateway_id else reference, reference, gateway_id, amount_minor,
        )  # fmt: skip

    async def case(self, kind: str, subject: str) -> None:
        await self.databases["payments"].execute(
            "INSERT INTO reconciliation_cases (id, kind, subject, ours_minor, theirs_minor, unexplained_minor, "
            "currency, detail, "
            "status, opened_at, seen_at) VALUES (gen_random_uuid(), $1, $2, 0, 5, 5, 'NGN', 'x', 'open', now(), now())",
            kind, subject,
        )  # fmt: skip

    async def refunded(self, amount_minor: int, gateway_refund_id: str | None = "8") -> None:
        await self.charged()
        await self.databases["payments"].execute(
            "INSERT INTO refunds (id, kind, charge_id, amount_minor, currency, status, reason, created_at, attempt_id, "
            "gateway_refund_id) VALUES ($1, 'order', $1, 5, 'NGN', 'settled', 'x', now(), $1, $2)",
            ID, gateway_refund_id,
        )  # fmt: skip
        if amount_minor:
            await self.posted("refund_settled", f"refund_settled:{ID}", "gateway_cash", -amount_minor)

    async def refunded_by_transfer(self, status: str) -> None:
        """Insert a refund to a bank account, whose first attempt failed."""
        await self.charged()
        await self.databases["payments"].execute(
            "INSERT INTO refunds (id, kind, charge_id, amount_minor, currency, status, reason, created_at, attempt_id, "
            "recipient_code) VALUES ($1, 'order', $1, 5, 'NGN', $2, 'x', now(), $1, 'RCP_2')",
            ID, status,
        )  # fmt: skip
        await self.databases["payments"].execute(
            "INSERT INTO failed_refund_attempts (id, refund_id, recipient_code, replaced_at) "
            "VALUES ($1, $2, 'RCP_1', now())",
            REPLACED_ID, ID,
        )  # fmt: skip

    async def transferred(self, status: str, fee: int | None = None) -> None:
        await self.databases["payouts"].execute(
            "INSERT INTO payout_transfers (id, payout_id, vendor_id, attempt, reference, status, amount, currency, "
            "bank_details_version_id, created_at, updated_at, fee) VALUES ($1, $1, $1, 1, $2, $3, 700, 'NGN', "
            "$1, now(), now(), $4)",
            ID, f"po-{ID.hex}", status, fee,
        )  # fmt: skip

    async def disputed(self, status: str, amount_minor: int = 5, identity: str = "7") -> None:
        await self.charged()
        await self.databases["payments"].execute(
            "INSERT INTO chargebacks (id, identity, charge_id, amount_minor, currency, status, opened_at, decided_at) "
            "VALUES ($1, $4, $1, $2, 'NGN', $3, now(), CASE WHEN $3 <> 'opened' THEN now() END)",
            ID, amount_minor, status, identity,
        )  # fmt: skip


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def opened(module_database: DatabaseFactory) -> AsyncIterator[dict[str, asyncpg.Connection]]:
    async with AsyncExitStack() as stack:
        databases = {}
        for service in ("payments", "payouts"):
            databases[service] = await asyncpg.connect((await module_database(service)).admin)
            stack.push_async_callback(databases[service].close)
            await databases[service].execute("SET session_replication_role = replica")
        yield databases


@pytest_asyncio.fixture(loop_scope="session")
async def world(opened: dict[str, asyncpg.Connection]) -> AsyncIterator[World]:
    """Its changes are rolled back."""
    async with AsyncExitStack() as stack:
        for connection in opened.values():
            undone = connection.transaction()
            await undone.start()
            stack.push_async_callback(undone.rollback)
        yield World(opened, GatewayDouble())


def charge(**changes: Any) -> dict[str, Any]:
    row = {"id": 7, "reference": "pay-7", "amount": 900, "fees": 10, "currency": "NGN", "status": "success"}
    return row | {"paid_at": LONG_AGO} | changes


def refund(**changes: Any) -> dict[str, Any]:
    row = {"id": 8, "merchant_note": f"re-{ID.hex}", "amount": 5, "currency": "NGN", "status": "processed"}
    return row | {"createdAt": LONG_AGO} | changes


def transfer(**changes: Any) -> dict[str, Any]:
    row = {"reference": f"po-{ID.hex}", "amount": 700, "currency": "NGN", "status": "success", "fee_charged": 25}
    return row | {"updatedAt": LONG_AGO} | changes


def dispute(**changes: Any) -> dict[str, Any]:
    row = {"id": 7, "refund_amount": 5, "currency": "NGN", "status": "resolved", "resolution": "auto-accepted"}
    return row | {"updatedAt": LONG_AGO} | changes


@pytest.mark.parametrize(
    ("listed", "kinds"),
    [
        ([charge()], []),
        ([charge(status="reversed")], []),
        ([charge(currency="GHS")], ["broken"]),
        ([charge(amount=901)], ["broken"]),
        ([charge(id=9)], ["broken", "broken"]),
        ([charge(status="abandoned")], ["broken"]),
        ([], ["broken"]),
        ([charge(), charge(id=9, reference="pay-9")], ["broken"]),
        ([charge(), charge(id=9, reference="pay-9", paid_at=NOW)], ["waiting"]),
    ],
)
async def test_a_charge_is_compared_by_its_id_amount_and_currency(
    world: World, listed: list[dict[str, Any]], kinds: list[str]
) -> None:
    await world.charged()
    world.gateway.lists["transaction"] = listed
    assert await world.kinds(CHARGES) == kinds


@pytest.mark.parametrize(
    ("posted", "reported", "kinds"), [(10, 10, []), (0, 10, []), (10, None, []), (10, 11, ["broken"])]
)
async def test_the_fee_of_a_charge_is_compared_when_both_sides_have_one(
    world: World, posted: int, reported: int | None, kinds: list[str]
) -> None:
    await world.charged()
    if posted:
        await world.posted("gateway_fee", "gateway_fee:pay-7/7", "gateway_fees", posted)
    world.gateway.lists["transaction"] = [charge(fees=reported)]
    assert await world.kinds(CHARGES) == kinds


async def test_a_charge_that_was_reported_without_an_id_is_found_by_its_reference(world: World) -> None:
    await world.charged(gateway_id=None)
    world.gateway.lists["transaction"] = [charge()]
    assert await world.kinds(CHARGES) == []


async def test_a_charge_with_an_open_case_is_open(world: World) -> None:
    await world.case("charge_not_in_book", "charge:pay-7/7")
    world.gateway.lists["transaction"] = [charge()]
    assert await world.kinds(CHARGES) == ["open"]


async def test_a_charge_that_was_paid_after_its_page_is_queried_before_it_is_reported(world: World) -> None:
    await world.charged()
    world.gateway.queried["transaction/verify/pay-7"] = charge()
    assert await world.kinds(CHARGES) == []


@pytest.mark.parametrize(
    ("ours_minor", "listed", "queried", "kinds"),
    [
        (5, [refund()], None, []),
        (5, [refund(amount=6)], refund(amount=6), ["broken"]),
        (5, [refund(status="pending")], refund(), []),
        (5, [], None, ["broken"]),
        (5, [refund(), refund(id=9)], refund(), ["broken"]),
        (0, [refund()], refund(), ["broken"]),
        (0, [refund()], refund(refunded_at=NOW), ["waiting"]),
        (0, [refund(status="failed")], None, []),
        # Their row has no note of ours: it is the refund with that id.
        (5, [refund(merchant_note=None)], refund(), []),
    ],
)
async def test_a_refund_is_compared_by_the_amount_that_its_note_moved(
    world: World, ours_minor: int, listed: list[dict[str, Any]], queried: dict[str, Any] | None, kinds: list[str]
) -> None:
    await world.refunded(ours_minor)
    world.gateway.lists["refund"] = listed
    if queried is not None:
        world.gateway.queried |= {"refund/8": queried, "refund/9": queried | {"id": 9}}
    assert await world.kinds(REFUNDS) == kinds


async def test_a_refund_with_an_open_case_is_open(world: World) -> None:
    await world.case("refund_not_in_book", "refund:8")
    world.gateway.lists["refund"] = [refund()]
    assert await world.kinds(REFUNDS) == ["open"]


@pytest.mark.parametrize(
    ("ours", "fee", "theirs", "kinds"),
    [
        ("success", 25, transfer(), []),
        ("success", None, transfer(), []),
        ("success", 24, transfer(), ["broken"]),
        ("success", 25, transfer(amount=701), ["broken"]),
        ("success", 25, transfer(status="reversed"), ["broken"]),
        ("success", 25, transfer(status="reversed", updatedAt=NOW), ["waiting"]),
        ("success", None, None, ["broken"]),
        ("pending", None, transfer(), ["broken"]),
        ("pending", None, transfer(updatedAt=NOW), ["waiting"]),
        ("pending", None, transfer(status="otp"), []),
        ("failed", None, transfer(), ["broken"]),
        ("failed", None, transfer(status="failed"), []),
        ("failed", None, None, []),
        ("submitting", None, None, []),
        ("pending", None, None, ["broken"]),
    ],
)
async def test_a_transfer_is_compared_by_its_state_amount_and_fee(
    world: World, ours: str, fee: int | None, theirs: dict[str, Any] | None, kinds: list[str]
) -> None:
    await world.transferred(ours, fee)
    if theirs is not None:
        world.gateway.lists["transfer"] = [theirs]
        world.gateway.queried[f"transfer/verify/po-{ID.hex}"] = theirs
    assert await world.kinds(TRANSFERS) == kinds


@pytest.mark.parametrize(
    ("status", "paid", "replaced", "current", "kinds"),
    [
        # The failed attempt paid after all, and its successor was never sent.
        ("settled", "replaced", "success", None, []),
        ("settled", "replaced", "failed", None, ["broken"]),
        ("settled", "current", "failed", "success", []),
        ("settled", "current", "success", "success", ["broken"]),
        # A lost chargeback paid what two failed attempts were to pay.
        ("settled", None, "failed", "failed", []),
        ("prepared", None, "failed", "failed", []),
        ("prepared", None, "failed", "success", ["open"]),
        ("submitted", None, "failed", "pending", []),
    ],
)
async def test_a_transfer_of_a_refund_is_compared_with_the_posting_of_its_attempt(
    world: World, status: str, paid: str | None, replaced: str, current: str | None, kinds: list[str]
) -> None:
    await world.refunded_by_transfer(status)
    attempts = {"replaced": REPLACED_ID, "current": ID}
    if paid is not None:
        await world.posted("refund_settled", f"refund_settled:{attempts[paid]}", "gateway_cash", -5)
    # The replaced attempt was over more.
    world.gateway.lists["transfer"] = [
        transfer(
            reference=f"re-{attempts[name].hex}", status=at_gateway, amount=5 if name == (paid or "current") else 9
        )
        for name, at_gateway in (("replaced", replaced), ("current", current))
        if at_gateway is not None
    ]
    for row in world.gateway.lists["transfer"]:
        world.gateway.queried[f"transfer/verify/{row['reference']}"] = row
    assert await world.kinds(TRANSFERS) == kinds


async def test_a_transfer_that_ended_after_its_page_is_queried_before_it_is_reported(world: World) -> None:
    await world.transferred("success")
    world.gateway.lists["transfer"] = [transfer(status="pending")]
    world.gateway.queried[f"transfer/verify/po-{ID.hex}"] = transfer()
    assert await world.kinds(TRANSFERS) == []


@pytest.mark.parametrize(
    ("outcome", "kinds"), [("open", ["open"]), ("explained", []), (None, ["broken"])]
)  # fmt: skip
async def test_a_transfer_that_is_not_ours_is_open_once_it_was_found(
    world: World, outcome: str | None, kinds: list[str]
) -> None:
    world.gateway.lists["transfer"] = [transfer(), transfer(reference="po-failed", status="failed")]
    if outcome is not None:
        await world.databases["payouts"].execute(
            "INSERT INTO found_transfers (reference, status, amount, currency, account_last4, bank_code, "
            "created_at, found_at, "
            "outcome, evidence) VALUES ($1, 'success', 700, 'NGN', '1234', '044', now(), now(), $2, $3)",
            f"po-{ID.hex}", outcome, "topped up by hand" if outcome == "explained" else None,
        )  # fmt: skip
    assert await world.kinds(TRANSFERS) == kinds


@pytest.mark.parametrize(
    ("ours", "listed", "kinds"),
    [
        ("lost", dispute(), []),
        ("won", dispute(resolution="declined"), []),
        ("opened", dispute(status="awaiting-bank-feedback", resolution="declined"), []),
        ("lost", dispute(refund_amount=6), ["broken"]),
        ("opened", dispute(), ["broken"]),
        ("opened", dispute(updatedAt=NOW), ["waiting"]),
        ("lost", None, ["broken"]),
    ],
)
async def test_a_dispute_is_compared_by_its_outcome_and_lost_amount(
    world: World, ours: str, listed: dict[str, Any] | None, kinds: list[str]
) -> None:
    await world.disputed(ours)
    if listed is not None:
        world.gateway.lists["dispute"] = [listed]
        world.gateway.queried["dispute/7"] = listed
    assert await world.kinds(DISPUTES) == kinds


@pytest.mark.parametrize(
    ("posted_minor", "reported_minor", "status", "created_at", "kinds"),
    [
        (5, 5, "success", LONG_AGO, []),
        (5, 6, "success", LONG_AGO, ["broken"]),
        (5, 5, "failed", LONG_AGO, ["broken"]),
        (0, 5, "success", LONG_AGO, ["broken"]),
        (0, 5, "success", NOW, ["waiting"]),
        (0, 5, "pending", LONG_AGO, []),
    ],
)
async def test_a_settlement_is_compared_by_its_amount(
    world: World, posted_minor: int, reported_minor: int, status: str, created_at: str, kinds: list[str]
) -> None:
    if posted_minor:
        await world.posted("settlement", "settlement:7", "bank_account", posted_minor)
    settlement = {"id": 7, "status": status, "currency": "NGN", "effective_amount": reported_minor}
    world.gateway.lists["settlement"] = [settlement | {"createdAt": created_at}]
    assert await world.kinds(SETTLEMENTS) == kinds


def second_charge(**changes: Any) -> dict[str, Any]:
    row = {
        "id": 7,
        "tx_ref": "pay-7",
        "charged_amount": 9,
        "amount_settled": 8.9,
        "currency": "NGN",
        "status": "successful",
    }
    return row | {"created_at": LONG_AGO} | changes


def second_refund(**changes: Any) -> dict[str, Any]:
    row = {"id": 8, "comments": f"re-{ID.hex}", "amount_refunded": 0.05, "status": "completed-bank-transfer"}
    return row | {"created_at": LONG_AGO} | changes


def second_chargeback(**changes: Any) -> dict[str, Any]:
    return {"id": 6, "flw_ref": "FLW-7", "amount": 0.05, "status": "lost", "created_at": LONG_AGO} | changes


@pytest.mark.parametrize(
    ("listed", "kinds"),
    [
        ([second_charge()], []),
        ([second_charge(charged_amount=9.01)], ["broken"]),
        ([second_charge(amount_settled=8.8)], ["broken"]),
        ([second_charge(currency="GHS")], ["broken"]),
        ([], ["broken"]),
        ([second_charge(), second_charge(id=9, tx_ref="pay-9")], ["broken"]),
        ([second_charge(), second_charge(id=9, tx_ref="pay-9", created_at=NOW)], ["waiting"]),
        # On a second page, and unpaid.
        ([second_charge(id=number, tx_ref=f"pay-{number}", status="failed") for number in range(20, 35)], ["broken"]),
    ],
)
async def test_a_charge_of_the_second_gateway_is_compared_by_id_amount_currency_and_fee(
    world: World, listed: list[dict[str, Any]], kinds: list[str]
) -> None:
    await world.charged(gateway_id="flw:7")
    await world.posted("gateway_fee", "gateway_fee:pay-7/flw:7", "gateway_fees", 10)
    await world.use_second()
    world.gateway.lists["v3/transactions"] = listed
    assert await world.kinds(CHARGES) == kinds


async def test_a_charge_of_the_second_gateway_is_queried_before_it_is_reported(world: World) -> None:
    await world.charged(gateway_id="flw:7")
    await world.use_second()
    world.gateway.queried["v3/transactions"] = second_charge()
    assert await world.kinds(CHARGES) == []


@pytest.mark.parametrize(
    ("ours_minor", "listed", "queried", "kinds"),
    [
        (5, [second_refund()], None, []),
        (5, [second_refund(amount_refunded=0.06)], second_refund(amount_refunded=0.06), ["broken"]),
        # Accepted, and not paid out: the query knows more.
        (5, [second_refund(status="completed")], second_refund(), []),
        (5, [second_refund(status="completed")], second_refund(status="completed"), ["broken"]),
        (0, [second_refund()], second_refund(), ["broken"]),
        (0, [second_refund(status="failed")], None, []),
        (5, [], None, ["broken"]),
    ],
)
async def test_a_refund_of_the_second_gateway_is_compared_by_the_amount_of_its_comment(
    world: World, ours_minor: int, listed: list[dict[str, Any]], queried: dict[str, Any] | None, kinds: list[str]
) -> None:
    await world.refunded(ours_minor, "flw:8")
    await world.use_second()
    world.gateway.lists["v3/refunds"] = listed
    if queried is not None:
        world.gateway.queried["v3/refunds/8"] = queried
    assert await world.kinds(REFUNDS) == kinds


@pytest.mark.parametrize(
    ("ours", "listed", "kinds"),
    [
        ("lost", second_chargeback(), []),
        ("lost", second_chargeback(status="accepted"), []),
        ("won", second_chargeback(status="won"), []),
        ("opened", second_chargeback(status="initiated"), []),
        ("opened", second_chargeback(), ["broken"]),
        ("lost", second_chargeback(amount=0.06), ["broken"]),
        ("lost", None, ["broken"]),
    ],
)
async def test_a_chargeback_of_the_second_gateway_is_compared_by_outcome_and_lost_amount(
    world: World, ours: str, listed: dict[str, Any] | None, kinds: list[str]
) -> None:
    await world.disputed(ours, identity="flw:6@FLW-7")
    await world.use_second()
    if listed is not None:
        world.gateway.lists["v3/chargebacks"] = [listed]
    assert await world.kinds(DISPUTES) == kinds


async def test_a_transfer_of_the_second_gateway_is_queried_before_it_is_reported(world: World) -> None:
    await world.transferred("success")
    await world.use_second()
    row = {"id": 5, "reference": f"po-{ID.hex}", "amount": 7, "fee": 0.25, "currency": "NGN", "created_at": LONG_AGO}
    world.gateway.lists["v3/transfers"] = [row | {"status": "PENDING"}]
    assert await world.kinds(TRANSFERS) == ["broken"]
    world.gateway.queried["v3/transfers"] = row | {"status": "SUCCESSFUL"}
    assert await world.kinds(TRANSFERS) == []


async def test_a_list_of_differences_without_end_is_cut_and_named(world: World) -> None:
    world.gateway.lists["transaction"] = [
        charge(id=number, reference=f"pay-{number}") for number in range(OFFENCES_MAX + 2)
    ]
    offences = await world.offences(CHARGES)
    assert len(offences) == OFFENCES_MAX + 1
    assert "not listed" in offences[-1].text


async def refreshed(gateway: Gateway) -> list[str]:
    async with statement_of(gateway) as statement:
        await statement.refresh()
        return [row.key async for row in statement.rows("charge")]


async def test_an_interrupted_reading_continues_with_the_page_that_it_lacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statements, "PAGE_LENGTH", 2)
    double = GatewayDouble(lists={"transaction": [charge(id=number) for number in range(5)]})
    async with served(double.app()) as url:
        gateway = Gateway(url, KEY, work_dir=tmp_path)
        page = statements.Paystack.page

        async def interrupted(self: Any, kind: Any, position: str, since: Any) -> Any:
            if position == "4":
                raise KeyboardInterrupt
            return await page(self, kind, position, since)

        monkeypatch.setattr(statements.Paystack, "page", interrupted)
        with pytest.raises(KeyboardInterrupt):
            await refreshed(gateway)
        monkeypatch.setattr(statements.Paystack, "page", page)
        double.requests.clear()
        assert await refreshed(gateway) == ["0", "1", "2", "3", "4"]
        assert {path.stat().st_mode & 0o777 for path in tmp_path.glob("gateway-lists.sqlite*")} == {0o600}
        assert double.requests[0] == "transaction?perPage=2&use_cursor=true&next=4"
        # A finished reading starts again.
        double.lists["transaction"] = [charge(id=5)]
        assert await refreshed(gateway) == ["5"]


async def test_a_concurrent_audit_keeps_the_lists_of_the_first_one(tmp_path: Path) -> None:
    double = GatewayDouble(lists={"transaction": [charge()]})
    async with served(double.app()) as url:
        gateway = Gateway(url, KEY, work_dir=tmp_path)
        async with statement_of(gateway) as first:
            await first.refresh()
            double.lists["transaction"] = []
            assert await refreshed(gateway) == []
            assert [row.key async for row in first.rows("charge")] == ["7"]


async def test_a_reading_of_yesterday_is_not_continued(tmp_path: Path) -> None:
    double = GatewayDouble(lists={"transaction": [charge()]})
    async with served(double.app()) as url:
        gateway = Gateway(url, KEY, work_dir=tmp_path)
        assert await refreshed(gateway) == ["7"]
        with sqlite3.connect(tmp_path / "gateway-lists.sqlite") as file:
            file.execute("INSERT INTO progress VALUES ('paystack charge', '', 1)")
            file.execute("UPDATE run SET started_at = started_at - 7 * 3600")
        file.close()
        double.lists["transaction"] = []
        assert await refreshed(gateway) == []


async def test_a_long_reading_is_followed_by_one_of_the_newer_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    double = GatewayDouble(lists={"transaction": [charge()]})
    async with served(double.app()) as url:
        started: list[float] = []
        start = Statement._start

        def was_long(self: Statement) -> Any:
            started_at, since = start(self)
            started.append(started_at)
            return (started_at - 3600 if len(started) == 1 else started_at), since

        monkeypatch.setattr(Statement, "_start", was_long)
        assert await refreshed(Gateway(url, KEY, work_dir=tmp_path)) == ["7"]
    assert len(started) == 2
    assert [request for request in double.requests if "transaction" in request and "from=" in request]


async def test_a_rate_limited_call_is_repeated_after_the_seconds_that_the_gateway_names(world: World) -> None:
    limited = JSONResponse({"status": False}, 429, headers={"x-ratelimit-reset": "0"})
    world.gateway.responses = [limited, limited]
    assert await world.kinds(CHARGES) == []
    assert [request.partition("?")[0] for request in world.gateway.requests[:3]] == ["transaction"] * 3


async def test_a_server_error_during_the_reading_is_repeated_and_a_wrong_key_is_not(world: World) -> None:
    ok = JSONResponse({"status": True, "data": [], "meta": {}})
    world.gateway.responses = [ok, JSONResponse({}, 502)]
    assert await world.kinds(CHARGES) == []
    world.gateway.responses = [JSONResponse({}, 403)]
    with pytest.raises(GatewayNotCompared, match="403"):
        await world.kinds(CHARGES)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"data": 5}', b'{"data": [{"id": 7}]}', b'{"data": [{"status": "success"}]}']
)
async def test_an_unreadable_list_is_no_comparison(world: World, body: bytes) -> None:
    world.gateway.responses = [JSONResponse(None)]
    world.gateway.responses[0].body = body
    world.gateway.responses[0].headers["content-length"] = str(len(body))
    with pytest.raises(GatewayNotCompared):
        await world.kinds(CHARGES)
