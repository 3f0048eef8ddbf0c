"""The databases of payments and payouts, and the payment gateway, whose rows the audit compares."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID, uuid4

import asyncpg

from operations.audit.comparisons import COMPARISONS
from operations.audit.findings import Offence
from operations.audit.gateway import FlutterwaveAccount, Gateway
from operations.audit.statement import statement_of
from testkit.service_kit import served

from .as_audit import AuditedDatabases, as_audit
from .gateway_double import KEY, GatewayDouble

ID: Final = UUID("0a000000-0000-7000-8000-000000000001")
REPLACED_ID: Final = UUID("0a000000-0000-7000-8000-000000000002")
LONG_AGO: Final = "2026-01-01T00:00:00.000Z"
# In a row of the gateway: the time at which a test runs, not that at which it was collected.
NOW: Final = "now"


def at_present(row: dict[str, Any]) -> dict[str, Any]:
    return {name: datetime.now(UTC).isoformat() if value == NOW else value for name, value in row.items()}


@dataclass
class World(AuditedDatabases):
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
        await self.entry("payments", type_, key, (account, amount_minor))

    async def charged(self, gateway_id: str | None = "7", reference: str = "pay-7", amount_minor: int = 900) -> None:
        await self.insert(
            "payments", "charges", id=ID, identity=f"{reference}/{gateway_id}" if gateway_id else reference,
            reference=reference, gateway_id=gateway_id, webhook_id="x", amount_minor=amount_minor, currency="NGN",
            verdict="covered", settled_at=datetime.now(UTC),
        )  # fmt: skip

    async def case(self, kind: str, subject: str) -> None:
        await self.insert(
            "payments", "reconciliation_cases", id=uuid4(), kind=kind, subject=subject, ours_minor=0, theirs_minor=5,
            unexplained_minor=5, currency="NGN", detail="x", status="open", opened_at=datetime.now(UTC),
            seen_at=datetime.now(UTC),
        )  # fmt: skip

    async def refunded(self, amount_minor: int, gateway_refund_id: str | None = "8") -> None:
        await self._refund("settled", gateway_refund_id=gateway_refund_id)
        if amount_minor:
            await self.posted("refund_settled", f"refund_settled:{ID}", "gateway_cash", -amount_minor)

    async def refunded_by_transfer(self, status: str) -> None:
        """Insert a refund to a bank account, whose first attempt failed."""
        await self._refund(status, recipient_code="RCP_2")
        attempt = {"id": REPLACED_ID, "refund_id": ID, "recipient_code": "RCP_1", "replaced_at": datetime.now(UTC)}
        await self.insert("payments", "failed_refund_attempts", **attempt)

    async def _refund(self, status: str, **more: Any) -> None:
        await self.charged()
        await self.insert(
            "payments", "refunds", id=ID, kind="order", charge_id=ID, amount_minor=5, currency="NGN", status=status,
            reason="x", created_at=datetime.now(UTC), attempt_id=ID, **more,
        )  # fmt: skip

    async def transferred(self, status: str, fee: int | None = None) -> None:
        await self.insert(
            "payouts", "payout_transfers", id=ID, payout_id=ID, vendor_id=ID, attempt=1, reference=f"po-{ID.hex}",
            status=status, amount=700, currency="NGN", bank_details_version_id=ID, created_at=datetime.now(UTC),
            updated_at=datetime.now(UTC), fee=fee,
        )  # fmt: skip

    async def disputed(self, status: str, amount_minor: int = 5, identity: str = "7") -> None:
        await self.charged()
        await self.insert(
            "payments", "chargebacks", id=ID, identity=identity, charge_id=ID, amount_minor=amount_minor,
            currency="NGN", status=status, opened_at=datetime.now(UTC),
            decided_at=None if status == "opened" else datetime.now(UTC),
        )  # fmt: skip


def charge(**changes: Any) -> dict[str, Any]:
    row = {"id": 7, "reference": "pay-7", "amount": 900, "fees": 10, "currency": "NGN", "status": "success"}
    return row | {"paid_at": LONG_AGO} | changes
