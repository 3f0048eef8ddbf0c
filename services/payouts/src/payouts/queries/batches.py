"""Reads of dispatches."""

from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso, iso_or_none
from common.primitives.problems import NotFound
from common.web.pages import Found, OffsetPage
from payouts.domain.transfer_fees import FeeSchedule

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


_BATCHES: Final = """
SELECT b.id, b.dispatched_by, b.created_at, b.finished_at, l.payouts, l.total_minor, l.skipped, l.successful, l.failed
FROM dispatch_batches AS b CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE l.outcome <> 'skipped') AS payouts,
           count(*) FILTER (WHERE l.outcome = 'skipped') AS skipped,
           coalesce(sum(l.amount) FILTER (WHERE l.outcome <> 'skipped'), 0)::bigint AS total_minor,
           count(*) FILTER (WHERE t.status = 'success') AS successful,
           count(*) FILTER (WHERE t.status IN ('failed', 'rejected', 'blocked', 'abandoned', 'reversed')) AS failed
    FROM dispatch_lines AS l LEFT JOIN payout_transfers AS t ON t.batch_id = l.batch_id AND t.payout_id = l.payout_id
    WHERE l.batch_id = b.id
) AS l
WHERE NOT b.dry_run
"""


async def list_unsent(uow: UnitOfWork, batch_id: UUID) -> list[UUID]:
    """Return the batch's attempts without a submission, in the plan's order."""
    return [row["id"] for row in await uow.fetch(_LIST_UNSENT, batch_id)]


async def page_of_batches(uow: UnitOfWork, page: OffsetPage) -> Found:
    """Return one page of the batches that were sent, newest first by default, and their total."""
    total: int = await uow.fetch_value("SELECT count(*) FROM dispatch_batches WHERE NOT dry_run")
    order = page.order_by({"created_at": "b.created_at"}[page.sort], "b.id")
    rows = await uow.fetch(f"{_BATCHES} {order} LIMIT $1 OFFSET $2", page.limit, page.offset)
    return [
        {
            "batchId": str(row["id"]),
            "dispatchedBy": str(row["dispatched_by"]),
            "createdAt": iso(row["created_at"]),
            "finishedAt": iso_or_none(row["finished_at"]),
            "payouts": row["payouts"],
            "totalMinor": row["total_minor"],
            "skipped": row["skipped"],
            "successful": row["successful"],
            "failed": row["failed"],
        }
        for row in rows
    ], total


async def describe_batch(uow: UnitOfWork, batch_id: UUID, fees: FeeSchedule) -> dict[str, Any]:
    """Return the response of a dispatch, as its transfers are now. A dry run lists them as `planned`.

    `queued` counts attempts left to the worker, `remaining` the payouts that could be sent and that this batch did not
    select. `feesMinor` is the schedule's fees for the transfers in `totalMinor`. Raises NotFound.
    """
    batch = await uow.fetch_row(_READ_BATCH, batch_id)
    if batch is None:
        raise NotFound
    lines = await uow.fetch(_LINES_OF_BATCH, batch_id)
    selected = [line for line in lines if line["outcome"] != "skipped"]
    return {
        "batchId": str(batch_id),
        "dryRun": batch["dry_run"],
        "queued": sum(line["status"] == "reserved" for line in selected),
        "remaining": batch["remaining"],
        "submitted": sum(line["status"] not in (None, "reserved", "failed") for line in selected),
        "totalMinor": sum(line["amount"] for line in selected if line["status"] != "failed"),
        "feesMinor": sum(fees.fee_minor(line["amount"]) for line in selected if line["status"] != "failed"),
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
