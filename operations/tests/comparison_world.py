"""The databases of payments and payouts, and the payment gateway, whose rows the audit compares."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

import asyncpg

from operations.audit.comparisons import COMPARISONS
from operations.audit.findings import Offence
from operations.audit.gateway import FlutterwaveAccount, Gateway
from operations.audit.statement import statement_of
from testkit.service_kit import served

from .as_audit import as_audit
from .gateway_double import KEY, GatewayDouble

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


def charge(**changes: Any) -> dict[str, Any]:
    row = {"id": 7, "reference": "pay-7", "amount": 900, "fees": 10, "currency": "NGN", "status": "success"}
    return row | {"paid_at": LONG_AGO} | changes
