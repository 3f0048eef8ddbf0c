"""The audit separates broken rules, open decisions of staff and work in progress, and reports whether it reached the
gateway.
"""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest
from rich.console import Console
from starlette.responses import JSONResponse

from operations.audit.findings import Report
from operations.audit.gateway import FlutterwaveAccount, Gateway
from operations.audit.report import check_once, print_report, report_as_json
from testkit.fixtures import DatabaseFactory
from testkit.service_kit import served

from .as_audit import AuditedDatabases, as_audit
from .gateway_double import KEY, GatewayDouble

NOW = datetime.now(UTC)
LOCKED = "every vendor's locked share is the same in both ledgers"
GATEWAY = "the payment gateway's own ledger equals ours"
ONCE = "each paid transfer is posted once, and a returned one is not"
LINES = "every line that a release, refund or chargeback made in a wallet is a posting of payments"


@dataclass
class World(AuditedDatabases):
    """The databases of the audited services, past every guard, and the gateway."""

    databases: dict[str, asyncpg.Connection]
    gateway: GatewayDouble
    url: str

    async def audit(self, key: str = KEY) -> Report:
        second = FlutterwaveAccount(f"{self.url}/v3", KEY) if "v3/settlements" in self.gateway.lists else None
        gateway = Gateway(self.url, key, flutterwave=second)
        async with as_audit(self.databases):
            return await check_once(self.databases, gateway)

    async def kinds(self) -> dict[str, str]:
        return {finding.rule: finding.kind for finding in (await self.audit()).findings}

    async def fee_entry(self, service: str, transfer_id: UUID, fee_minor: int) -> None:
        entries = ("transfer_fees", fee_minor), ("gateway_cash", -fee_minor)
        await self.entry(service, "transfer_fee", f"transfer_fee:{transfer_id}", *entries)


@pytest.fixture
async def world(fresh_database: DatabaseFactory) -> AsyncIterator[World]:
    gateway = GatewayDouble()
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(served(gateway.app()))
        databases = {}
        for service in ("orders", "payments", "payouts"):
            databases[service] = await asyncpg.connect((await fresh_database(service)).admin)
            stack.push_async_callback(databases[service].close)
            await databases[service].execute("SET session_replication_role = replica")
        yield World(databases, gateway, url)


async def an_escrow_unknown_to_payouts(world: World) -> tuple[UUID, UUID]:
    """Return the order's id, and the id of the event that payouts has not processed."""
    order_id, event_id = uuid4(), uuid4()
    await world.insert(
        "payments", "escrows", order_id=order_id, buyer_id=uuid4(), vendor_id=uuid4(), charge_id=uuid4(),
        held_minor=900,
        locked_vendor_minor=900, locked_commission_minor=0, locked_delivery_fee_minor=0, released_vendor_minor=0,
        released_commission_minor=0, released_delivery_fee_minor=0, refunded_minor=0, dispute_sequence=0, held_at=NOW,
    )  # fmt: skip
    payload = json.dumps({"orderId": str(order_id), "vendorId": str(uuid4())}).encode()
    await world.insert(
        "payments", "outbox", id=event_id, type="payments.escrow_held.v1", source="/services/payments",
        subject=str(order_id), sequence=1, payload=payload, trace="{}",
    )  # fmt: skip
    return order_id, event_id


async def kind_of(world: World, rule: str) -> str | None:
    return (await world.kinds()).get(rule)


async def test_a_system_without_a_difference_is_clean_and_compared_with_its_gateway(world: World) -> None:
    report = await world.audit()
    assert (report.findings, report.verdict, report.not_compared) == ((), "clean", None)


@pytest.mark.parametrize("fault", ["wrong key", "no key", "no answer", "an error"])
async def test_an_audit_without_the_gateway_reports_it(world: World, fault: str, capsys: Any) -> None:
    if fault == "no answer":
        world.url = "http://127.0.0.1:9"
    if fault == "an error":
        world.gateway.responses = [JSONResponse({"status": False}, 500) for _ in range(100)]
    report = await world.audit({"wrong key": "another", "no key": ""}.get(fault, KEY))
    assert report.not_compared
    assert report_as_json(report)["gateway"] == {
        "url": world.url,
        "compared": False,
        "reason": report.not_compared,
    }
    print_report(report, Console(highlight=False, width=300))
    printed = capsys.readouterr().out
    assert f"Not compared with the payment gateway at {world.url}" in printed


async def test_a_difference_is_waiting_for_its_event_open_as_a_dead_letter_else_broken(
    world: World,
) -> None:
    order_id, event_id = await an_escrow_unknown_to_payouts(world)
    assert await kind_of(world, LOCKED) == "waiting"
    await world.insert(
        "payouts", "dead_letters", id=uuid4(), queue="payouts.payments", event_id=event_id,
        event_type="payments.escrow_held.v1", body=b"{}", headers="{}", error="x", attempts=5,
    )  # fmt: skip
    assert await kind_of(world, LOCKED) == "open"
    await world.databases["payouts"].execute("UPDATE dead_letters SET closed_at = now()")
    await world.databases["payments"].execute("UPDATE outbox SET created_at = now() - interval '21 minutes'")
    assert await kind_of(world, LOCKED) == "broken"
    # Processed, and the difference is still there: the event explains nothing.
    await world.databases["payments"].execute("UPDATE outbox SET created_at = now()")
    await world.insert("payouts", "inbox", event_id=event_id, consumer="payouts.payments")
    assert await kind_of(world, LOCKED) == "broken"
    [finding] = [finding for finding in (await world.audit()).findings if finding.rule == LOCKED]
    [offence] = finding.offences
    assert (offence.subject, offence.expected, offence.actual) == (
        f"order {order_id}",
        "900 kobo locked for the vendor, as in payments",
        "payouts knows None",
    )


async def test_a_returned_payout_is_open_not_broken_until_its_reconciliation_is_decided(world: World) -> None:
    payout_id, vendor_id, exception_id = uuid4(), uuid4(), uuid4()
    reference = f"po-{uuid4().hex}"
    transfer_id = uuid4()
    await world.insert(
        "payouts", "payout_requests", id=payout_id, vendor_id=vendor_id, amount=700, currency="NGN", status="processed",
        bank_details_version_id=uuid4(), requested_by=uuid4(), created_at=NOW, updated_at=NOW,
    )  # fmt: skip
    await world.insert(
        "payouts", "payout_transfers", id=transfer_id, payout_id=payout_id, vendor_id=vendor_id, attempt=1,
        reference=reference, status="reversed", amount=700, currency="NGN", bank_details_version_id=uuid4(),
        created_at=NOW, updated_at=NOW,
    )  # fmt: skip
    await world.entry(
        "payouts",
        "payout_processed",
        f"payout_processed:{payout_id}",
        (f"in_transit:{payout_id}", 700),
        ("gateway_cash", -700),
    )
    await world.insert(
        "payouts", "payout_exceptions", id=exception_id, payout_id=payout_id, vendor_id=vendor_id, cause="reversed",
        severity="SEV-3", status="open", detail="x", amount=700, respond_by=NOW, opened_at=NOW,
    )  # fmt: skip
    world.gateway.lists["transfer"] = [{"reference": reference, "status": "reversed", "currency": "NGN"}]
    kinds = await world.kinds()
    assert (kinds[ONCE], kinds[GATEWAY]) == ("open", "open")
    # Prepared and rejected: it is to be decided still.
    await world.insert(
        "payouts", "reconciliations", id=uuid4(), payout_id=payout_id, kind="reversal", status="rejected", reason="x",
        postings="[]", hash="0" * 64, prepared_by=uuid4(), prepared_at=NOW, decided_by=uuid4(), decided_at=NOW,
        rejection="no",
    )  # fmt: skip
    kinds = await world.kinds()
    assert (kinds[ONCE], kinds[GATEWAY]) == ("open", "open")
    # The recoveries of the transfer, one of them returned, explain nothing more.
    for position, (kind, number) in enumerate((("recovery", ""), ("recovery_returned", ""), ("recovery", ":2")), 1):
        key, sign = f"{kind}:{transfer_id}{number}", -1 if kind == "recovery" else 1
        await world.entry("payouts", kind, key, (f"wallet:{vendor_id}", -700 * sign), ("gateway_cash", 700 * sign))
        await world.insert(
            "payouts", "wallet_lines", id=uuid4(), vendor_id=vendor_id, kind=kind, source_key=key, payout_id=payout_id,
            net_minor=700 * sign, balance_minor=max(0, 700 * sign), at=NOW,
        )  # fmt: skip
        assert await kind_of(world, GATEWAY) == "open", position
    # No decision explains one more kobo.
    world.gateway.balance_minor = 1
    assert await kind_of(world, GATEWAY) == "broken"
    world.gateway.balance_minor = 0
    await world.databases["payouts"].execute(
        "UPDATE payout_exceptions SET status = 'closed', closed_at = now(), closed_because = 'x'"
    )
    kinds = await world.kinds()
    assert (kinds[ONCE], kinds[GATEWAY]) == ("broken", "broken")


async def assert_fee_is_explained(world: World, line: dict[str, Any], booked: int | None, balance_minor: int) -> None:
    """Check that the fee of a transfer is no difference to the gateway, and that one kobo more than booked is."""
    failed = {"transfer_code": "TRF_1", "status": "failed", "currency": "NGN", "fee_charged": None}
    world.gateway.lists["transfer"] = [line, failed]
    world.gateway.balance_minor = balance_minor
    assert GATEWAY not in await world.kinds()
    if (line["status"], booked) == ("success", 25):
        world.gateway.lists["transfer"] = [{**line, "fee_charged": 26}]
        world.gateway.balance_minor = -26
        assert await kind_of(world, GATEWAY) == "broken"


@pytest.mark.parametrize(
    ("status", "booked", "charged", "balance_minor"),
    [
        # Debited at acceptance, and reported with the success.
        ("pending", None, 25, -25),
        ("success", None, 25, -25),
        ("success", 25, 25, -25),
        # The gateway returned it with the money; the next query corrects the ledger.
        ("reversed", 25, 0, 0),
    ],
)
async def test_a_fee_of_a_transfer_is_no_difference_to_the_gateway(
    world: World, status: str, booked: int | None, charged: int, balance_minor: int
) -> None:
    transfer_id, reference = uuid4(), f"po-{uuid4().hex}"
    await world.insert(
        "payouts", "payout_transfers", id=transfer_id, payout_id=uuid4(), vendor_id=uuid4(), attempt=1,
        reference=reference, status="failed", amount=0, currency="NGN", bank_details_version_id=uuid4(), fee=booked,
        created_at=NOW, updated_at=NOW,
    )  # fmt: skip
    if booked is not None:
        await world.fee_entry("payouts", transfer_id, booked)
    line = {"reference": reference, "status": status, "currency": "NGN", "fee_charged": charged}
    await assert_fee_is_explained(world, line, booked, balance_minor)


@pytest.mark.parametrize(
    ("status", "booked", "charged", "balance_minor"),
    [
        ("success", None, 25, -25),
        ("success", 25, 25, -25),
        ("reversed", 25, 0, 0),
    ],
)
@pytest.mark.parametrize("is_replaced", [False, True])
async def test_a_fee_of_a_refund_s_transfer_is_no_difference_to_the_gateway(
    world: World, status: str, booked: int | None, charged: int, balance_minor: int, is_replaced: bool
) -> None:
    attempt_id, refund_id = uuid4(), uuid4()
    await world.insert(
        "payments", "refunds", id=refund_id, kind="order", charge_id=uuid4(), amount_minor=1, currency="NGN",
        status="settled", reason="x", created_at=NOW, attempt_id=uuid4() if is_replaced else attempt_id,
        recipient_code="RCP_1", transfer_fee_minor=None if is_replaced else booked,
    )  # fmt: skip
    if is_replaced:
        await world.insert(
            "payments", "failed_refund_attempts", id=attempt_id, refund_id=refund_id, recipient_code="RCP_1",
            replaced_at=NOW, transfer_fee_minor=booked,
        )  # fmt: skip
    if booked is not None:
        await world.fee_entry("payments", attempt_id, booked)
    line = {"reference": f"re-{attempt_id.hex}", "status": status, "currency": "NGN", "fee_charged": charged}
    await assert_fee_is_explained(world, line, booked, balance_minor)


async def test_an_unexplained_kobo_is_open_and_explains_the_gateway_s_difference(world: World) -> None:
    world.gateway.balance_minor = 500
    assert await kind_of(world, GATEWAY) == "broken"
    await world.insert(
        "payments", "reconciliation_cases", id=uuid4(), kind="charge_not_in_book", subject="ch-1", ours_minor=0,
        theirs_minor=500, unexplained_minor=500, currency="NGN", detail="x", status="open", opened_at=NOW, seen_at=NOW,
    )  # fmt: skip
    report = await world.audit()
    assert {finding.kind for finding in report.findings} == {"open"}
    assert report.verdict == "open"


async def test_a_difference_to_the_gateway_waits_while_its_webhook_is_being_processed(world: World) -> None:
    world.gateway.balance_minor = 500
    await world.insert(
        "payments", "processed_webhook_events", id="charge.success:1", event_type="charge.success", outcome="queued",
        processed_at=datetime.now(UTC) - timedelta(minutes=1), **await _required_of_a_webhook(world),
    )  # fmt: skip
    assert await kind_of(world, GATEWAY) == "waiting"


async def test_a_settlement_to_the_bank_waits_for_the_daily_run_and_is_open_with_a_case(world: World) -> None:
    world.gateway.balance_minor = -300
    assert await kind_of(world, GATEWAY) == "broken"
    settlement = {"id": 3090024, "status": "success", "currency": "NGN", "effective_amount": 300}
    world.gateway.lists["settlement"] = [settlement, {**settlement, "id": 1, "status": "pending"}]
    assert await kind_of(world, GATEWAY) == "waiting"
    await world.insert(
        "payments", "reconciliation_cases", id=uuid4(), kind="settlement_not_in_book", subject="settlement:3090024",
        ours_minor=0,
        theirs_minor=300, unexplained_minor=300, currency="NGN", detail="x", status="open", opened_at=NOW, seen_at=NOW,
    )  # fmt: skip
    assert await kind_of(world, GATEWAY) == "open"
    await world.databases["payments"].execute("DELETE FROM reconciliation_cases")
    await world.entry("payments", "settlement", "settlement:3090024", ("bank_account", 300), ("gateway_cash", -300))
    assert GATEWAY not in await world.kinds()


async def test_a_settlement_of_the_second_gateway_is_compared_by_its_own_id(world: World) -> None:
    settlement = {"id": 41748, "status": "completed", "currency": "NGN", "net_amount": 3, "destination": "account"}
    world.gateway.lists["v3/settlements"] = [settlement, {**settlement, "id": 2, "destination": "autowallet"}]
    await world.entry("payments", "charge", "charge:1", ("gateway_cash", 300), ("gateway_fees", -300))
    assert await kind_of(world, GATEWAY) == "waiting"
    await world.entry("payments", "settlement", "settlement:flw:41748", ("bank_account", 300), ("gateway_cash", -300))
    assert GATEWAY not in await world.kinds()
    # Posted once: a settlement of the first gateway with the same number is another one.
    world.gateway.balance_minor = -300
    world.gateway.lists["settlement"] = [{"id": 41748, "status": "success", "currency": "NGN", "effective_amount": 300}]
    assert await kind_of(world, GATEWAY) == "waiting"


async def _required_of_a_webhook(world: World) -> dict[str, Any]:
    """Values of the columns that a webhook must have and that the audit does not read."""
    rows = await world.databases["payments"].fetch(
        "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'processed_webhook_events' "
        "AND is_nullable = 'NO' AND column_default IS NULL AND is_identity = 'NO'"
    )
    named = {"id", "event_type", "outcome", "processed_at"}
    samples: dict[str, Any] = {"text": "x", "bytea": b"{}", "jsonb": "{}", "integer": 0, "bigint": 0, "boolean": False}
    return {row["column_name"]: samples[row["data_type"]] for row in rows if row["column_name"] not in named}


async def test_a_wallet_line_payments_never_posted_is_named_broken_until_corrected(world: World) -> None:
    vendor_id, key = uuid4(), f"release:{uuid4()}"
    line = {"id": uuid4(), "vendor_id": vendor_id, "balance_minor": 500, "at": NOW}
    await world.insert("payouts", "wallet_lines", **line, kind="release", source_key=key, net_minor=500)
    [finding] = [finding for finding in (await world.audit()).findings if finding.rule == LINES]
    assert finding.kind == "broken"
    assert key in finding.rows[0]
    assert str(vendor_id) in finding.rows[0]
    correction = {**line, "id": uuid4(), "balance_minor": 0}
    await world.insert(
        "payouts", "wallet_lines", **correction, kind="correction", source_key="correction:1", net_minor=-500
    )
    assert await kind_of(world, LINES) is None


async def test_a_vendor_whose_payouts_are_held_is_an_open_finding(world: World) -> None:
    vendor_id = uuid4()
    await world.insert(
        "payouts", "payout_exceptions", id=uuid4(), vendor_id=vendor_id, cause="credit_not_released", severity="SEV-1",
        status="open", detail="x", amount=1, respond_by=NOW, opened_at=NOW,
    )  # fmt: skip
    [finding] = (await world.audit()).findings
    assert (finding.kind, finding.offences[0].subject) == ("open", str(vendor_id))
