"""Shared steps of resets and reconciliations: payouts in trouble, and the staff who act on them."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import httpx

from common.primitives.ids import new_id
from contracts.payments import TransferFailed, TransferReversed, TransferSucceeded
from operations.audit.invariants import INVARIANTS
from payouts.timers import process_due_transfers_once
from testkit.responses import data_of
from testkit.sandbox import Sandbox

from .conftest import Scenario, Vendor

AMOUNT = 40_000


@dataclass(frozen=True)
class Case:
    """A payout of its own vendor, and the reference of its first transfer."""

    vendor: Vendor
    payout_id: str
    reference: str


def transfer_event(event: type[Any], reference: str, **changes: Any) -> Any:
    """Return a report of the gateway about a transfer."""
    values = {
        "reference": reference,
        "transfer_code": "TRF_1",
        "amount_minor": AMOUNT,
        "currency": "NGN",
        "status": "success",
        "gateway_event_id": "7",
        "occurred_at": "2026-01-01T00:00:00.000Z",
        "reason": "Account number is invalid" if event is TransferFailed else None,
        **changes,
    }
    return event(**values)


@dataclass
class Staff:
    """The staff, one user for each role."""

    scenario: Scenario
    sandbox: Sandbox
    operator: UUID = field(default_factory=new_id)
    maker: UUID = field(default_factory=new_id)
    checker: UUID = field(default_factory=new_id)

    async def post(
        self,
        path: str,
        by: UUID,
        role: str | tuple[str, ...],
        body: Any = None,
        *,
        stepped_up: bool = True,
        key: UUID | None = None,
    ) -> httpx.Response:
        roles = (role,) if isinstance(role, str) else role
        headers = self.scenario.headers(by, roles=roles, stepped_up=stepped_up, idempotency_key=key)
        return await self.scenario.client.post(path, json=body, headers=headers)

    async def get(self, path: str, role: str = "auditor", **claims: Any) -> httpx.Response:
        headers = self.scenario.headers(self.operator, roles=(role,), **claims)
        return await self.scenario.client.get(path, headers=headers)

    async def reset(
        self, case: Case, reason: str = "bank switch was down", *, key: UUID | None = None
    ) -> httpx.Response:
        path = f"/api/payouts/{case.payout_id}/reset"
        return await self.post(path, self.operator, "ops_oncall", {"reason": reason}, key=key)

    async def prepare(self, case: Case, *, key: UUID | None = None) -> httpx.Response:
        path = f"/api/payouts/{case.payout_id}/reconciliations"
        return await self.post(path, self.maker, "finance_maker", {"reason": "the bank's letter of today"}, key=key)

    async def prepared(self, case: Case) -> dict[str, Any]:
        return dict(data_of(await self.prepare(case), 201))

    async def approve(self, reconciliation: dict[str, Any]) -> httpx.Response:
        path, body = f"/api/reconciliations/{reconciliation['id']}/approve", {"hash": reconciliation["hash"]}
        return await self.post(path, self.checker, "finance_checker", body)

    async def reconcile(self, case: Case) -> dict[str, Any]:
        return dict(data_of(await self.approve(await self.prepared(case))))

    async def dispatched(self, vendor: Vendor | None = None) -> Case:
        """Return a payout under way at the gateway."""
        vendor = vendor or await self.scenario.ready_vendor(AMOUNT)
        payout_id = await self.scenario.payout(vendor, AMOUNT)
        [transfer] = (await self.scenario.dispatch(uuid4(), payoutIds=[payout_id])).json()["data"]["transfers"]
        return Case(vendor, payout_id, transfer["reference"])

    async def settle_at_gateway(self, reference: str, move: str) -> None:
        await self.sandbox.settle_transfer(reference, move)

    async def receive_webhook(self, reference: str, event: type[Any], **changes: Any) -> None:
        reason = "Bank switch is down" if event is TransferFailed else None
        values = {"gateway_event_id": str(new_id()), "reason": reason, **changes}
        await self.scenario.receive(transfer_event(event, reference, **values), sequence=9)

    async def failed(self, vendor: Vendor | None = None) -> Case:
        """Return a payout whose transfer failed, at the gateway and by webhook."""
        case = await self.dispatched(vendor)
        await self.settle_at_gateway(case.reference, "fail")
        await self.receive_webhook(case.reference, TransferFailed)
        return case

    async def succeeds(self, reference: str) -> None:
        """Settles the transfer as a success, at the gateway and by webhook."""
        await self.settle_at_gateway(reference, "succeed")
        await self.receive_webhook(reference, TransferSucceeded)

    async def reversed(self) -> Case:
        """Return a processed payout that the bank returned."""
        case = await self.dispatched()
        await self.succeeds(case.reference)
        await self.settle_at_gateway(case.reference, "reverse")
        await self.receive_webhook(case.reference, TransferReversed)
        return case

    async def run_timers(self) -> None:
        parts = self.scenario.dependencies
        await process_due_transfers_once(parts.database, parts.gateways, parts.clock)

    async def process_queued_transfers(self) -> None:
        """Process the worker's queued queries."""
        while await self.scenario.work("payouts.transfers"):
            pass

    async def payout(self, case: Case) -> dict[str, Any]:
        return await self.scenario.read_payout(case.payout_id)

    async def in_transit(self, case: Case) -> int:
        return -await self.scenario.balance(f"in_transit:{case.payout_id}")

    async def returns(self, case: Case) -> list[str]:
        """Return the kinds of the payout's returns in the ledger."""
        rows = await self.scenario.fetch(
            (
                "SELECT type FROM ledger_transactions WHERE posting_key IN ('restitution:' || $1::text, 'reversal:' "
                "|| $1::text)"
            ),
            case.payout_id,
        )
        return [row["type"] for row in rows]

    async def references(self, case: Case) -> list[str]:
        rows = await self.scenario.fetch(
            "SELECT reference FROM payout_transfers WHERE payout_id = $1 ORDER BY attempt", case.payout_id
        )
        return [row["reference"] for row in rows]

    async def sent(self, case: Case) -> list[str]:
        """Return the payout's references that the gateway has."""
        queries = {
            reference: await self.sandbox.client.get(f"/gateway/transfer/verify/{reference}")
            for reference in await self.references(case)
        }
        return [reference for reference, response in queries.items() if response.status_code == 200]

    async def minor_sent_by_gateway(self, case: Case) -> int:
        """Return what the gateway sent with the payout's transfers and did not get back, in kobo."""
        left_minor = 0
        for reference in await self.references(case):
            response = await self.sandbox.client.get("/control/book/movements", params={"reference": reference})
            movements = response.json()
            left_minor -= sum(movement["amount_minor"] for movement in movements)
        return left_minor

    async def minor_sent_in_ledger(self, case: Case) -> int:
        """Return what the ledger records as sent with the payout, in kobo."""
        rows = await self.scenario.fetch(
            "SELECT coalesce(-sum(e.amount_minor), 0)::bigint AS minor FROM ledger_transactions AS t "
            "JOIN ledger_entries AS e ON e.transaction_id = t.id AND e.account = 'gateway_cash' WHERE t.posting_key IN "
            "('payout_processed:' || $1::text, 'reversal:' || $1::text) OR t.posting_key IN "
            "(SELECT source_key FROM wallet_lines WHERE payout_id = $1::uuid AND kind IN ('recovery', "
            "'recovery_returned'))",
            case.payout_id,
        )
        return int(rows[0]["minor"])

    async def assert_ledger_matches_gateway(self, case: Case) -> None:
        """Check that what the gateway sent for good equals what the ledger sent, when nothing is under way."""
        assert await self.minor_sent_in_ledger(case) == await self.minor_sent_by_gateway(case)
        assert await self.findings(case) == []

    async def findings(self, case: Case) -> list[str]:
        """Return the audit's invariants that this payout breaks."""
        return [
            invariant.rule
            for invariant in INVARIANTS
            if invariant.service == "payouts"
            and any(case.payout_id in str(dict(row)) for row in await self.scenario.fetch(invariant.offending))
        ]
