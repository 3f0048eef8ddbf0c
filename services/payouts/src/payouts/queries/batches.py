"""Reads of dispatches."""

from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork

_LIST_UNSENT: Final = """
SELECT t.id FROM dispatch_lines AS l JOIN payout_transfers AS t ON t.batch_id = l.batch_id AND t.payout_id = l.payout_id
WHERE l.batch_id = $1 AND t.status = 'reserved' AND t.due_at IS NOT NULL ORDER BY l.place
"""
_READ_BATCH: Final = "SELECT gateway_balance_minor, dry_run, remaining FROM dispatch_batches WHERE id = $1"
_LINES_OF_BATCH: Final = """
SELECT l.payout_id, l.outcome, l.reason, l.amount, t.vendor_id, t.reference, t.status, t.transfer_code, t.failure
FROM dispatch_lines AS l LEFT JOIN payout_transfers AS t ON t.batch_id = l.batch_id AND t.payout_id = l.payout_id
WHERE l.batch_id = $1 ORDER BY l.place
"""


async def list_unsent(uow: UnitOfWork, batch_id: UUID) -> list[UUID]:
    """Returns the batch's attempts without a submission, in the plan's order."""
    return [row["id"] for row in await uow.fetch(_LIST_UNSENT, batch_id)]


async def describe_batch(uow: UnitOfWork, batch_id: UUID) -> dict[str, Any]:
    """Returns the response of a dispatch. A dry run lists its transfers as `planned`.

    `queued` counts attempts left to the worker, `remaining` the payouts that could be sent and that this batch did not
    select.
    """
    batch = await uow.fetch_row(_READ_BATCH, batch_id)
    if batch is None:
        raise AssertionError("a batch is never removed")
    lines = await uow.fetch(_LINES_OF_BATCH, batch_id)
    selected = [line for line in lines if line["outcome"] != "skipped"]
    return {
        "batchId": str(batch_id),
        "dryRun": batch["dry_run"],
        "queued": sum(line["status"] == "reserved" for line in selected),
        "remaining": batch["remaining"],
        "submitted": sum(line["status"] not in (None, "reserved", "failed") for line in selected),
        "totalMinor": sum(line["amount"] for line in selected if line["status"] != "failed"),
        "gatewayBalanceMinor": batch["gateway_balance_minor"],
        "transfers": [
            {
                "payoutId": str(line["payout_id"]),
                "amountMinor": line["amount"],
                "reference": line["reference"],
                "status": line["status"] or "planned",
                "transferCode": line["transfer_code"],
                "failure": line["failure"],
            }
            for line in selected
        ],
        "skipped": [
            {"payoutId": str(line["payout_id"]), "reason": line["reason"]}
            for line in lines
            if line["outcome"] == "skipped"
        ],
    }
