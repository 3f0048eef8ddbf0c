"""Reads of dispatches."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from msgspec import structs

from common.database.unit_of_work import Reads, UnitOfWork
from common.primitives.clock import iso
from common.primitives.decisions import content_hash
from common.primitives.problems import NotFound
from common.web.pages import Found, OffsetPage
from common.web.response_models import Row
from payouts.domain.transfer_fees import FeeSchedule
from payouts.queries.banks import BANK_NAME, bank_name_of
from payouts.responses.batches import (
    BatchSkippedPayout,
    BatchTransfer,
    DispatchedTransfer,
    PayoutBatch,
    PayoutBatchDetail,
    PayoutDispatch,
    PayoutRunApproval,
    SkippedPayout,
)

_LIST_UNSENT: Final = """
SELECT t.id FROM dispatch_lines AS l JOIN payout_transfers AS t ON t.batch_id = l.batch_id AND t.payout_id = l.payout_id
WHERE l.batch_id = $1 AND t.status = 'reserved' AND t.due_at IS NOT NULL ORDER BY l.place
"""
_READ_BATCH: Final = "SELECT gateway_balance_minor, dry_run, remaining FROM dispatch_batches WHERE id = $1"
_LINES_OF_BATCH: Final = """
SELECT l.payout_id, l.outcome, l.reason, l.amount AS amount_minor, t.reference, coalesce(t.status, 'planned') AS status,
       t.transfer_code, t.failure
FROM dispatch_lines AS l LEFT JOIN payout_transfers AS t ON t.batch_id = l.batch_id AND t.payout_id = l.payout_id
WHERE l.batch_id = $1 ORDER BY l.place
"""
# An id that a dispatch named may be of no payout.
_PAYEES_OF_BATCH: Final = f"""
SELECT l.payout_id, p.number AS payout_number, p.vendor_id, nullif(seller.legal_name, '') AS vendor_name, v.bank_code,
       {BANK_NAME}, v.last4 AS account_last4, v.account_name, v.id AS version_id, p.created_at AS requested_at,
       l.amount AS amount_minor
FROM dispatch_lines AS l LEFT JOIN payout_requests AS p ON p.id = l.payout_id
LEFT JOIN bank_detail_versions AS v ON v.id = p.bank_details_version_id
LEFT JOIN vendors AS seller ON seller.id = p.vendor_id
WHERE l.batch_id = $1
"""
_READ_MAKER: Final = """
SELECT b.dispatched_by, b.created_at, b.dry_run, a.status, a.prepared_by, a.prepared_at, a.decided_by, a.decided_at,
       a.rejection AS rejection_reason, sent.id AS sent_batch_id
FROM dispatch_batches AS b LEFT JOIN dispatch_approvals AS a ON a.batch_id = b.id
LEFT JOIN dispatch_batches AS sent ON sent.dispatched_by = a.decided_by AND sent.idempotency_key = b.id
WHERE b.id = $1
"""
_HASHED: Final = ("payout_id", "vendor_id", "vendor_name", "version_id", "bank_code", "account_last4", "account_name")
# No user approves what they prepared.
AWAITING_RUN: Final = "a.status = 'prepared' AND a.prepared_by <> {user}"

_BATCHES: Final = """
SELECT b.id AS batch_id, b.dispatched_by, b.created_at, b.finished_at, l.payouts, l.total_minor, l.skipped,
    l.successful, l.failed
FROM dispatch_batches AS b CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE l.outcome <> 'skipped') AS payouts,
           count(*) FILTER (WHERE l.outcome = 'skipped') AS skipped,
           coalesce(sum(l.amount) FILTER (WHERE l.outcome <> 'skipped'), 0)::bigint AS total_minor,
           count(*) FILTER (WHERE t.status = 'success') AS successful,
           count(*) FILTER (WHERE t.status IN ('failed', 'rejected', 'blocked', 'abandoned', 'reversed')) AS failed
    FROM dispatch_lines AS l LEFT JOIN payout_transfers AS t ON t.batch_id = l.batch_id AND t.payout_id = l.payout_id
    WHERE l.batch_id = b.id
) AS l
"""
_SENT: Final = "WHERE NOT b.dry_run"
_AWAITING: Final = (
    f"WHERE b.id IN (SELECT batch_id FROM dispatch_approvals AS a WHERE {AWAITING_RUN.format(user='$1::uuid')})"
)


async def list_unsent(reads: Reads, batch_id: UUID) -> list[UUID]:
    """Return the batch's attempts without a submission, in the plan's order."""
    return [row["id"] for row in await reads.fetch(_LIST_UNSENT, batch_id)]


async def page_of_batches(uow: UnitOfWork, page: OffsetPage, approver_id: UUID | None) -> Found[PayoutBatch]:
    """Return one page and the total, newest first by default: of the batches that were sent, or of the prepared
    previews that `approver_id` may decide on.
    """
    chosen, values = (_SENT, []) if approver_id is None else (_AWAITING, [approver_id])
    total: int = await uow.fetch_value(f"SELECT count(*) FROM dispatch_batches AS b {chosen}", *values)
    order = page.order_by({"created_at": "b.created_at"}[page.sort], "b.id")
    limit = f"LIMIT ${len(values) + 1} OFFSET ${len(values) + 2}"
    rows = await uow.fetch(f"{_BATCHES} {chosen} {order} {limit}", *values, page.limit, page.offset)
    return [PayoutBatch.from_row(row) for row in rows], total


async def describe_batch(uow: UnitOfWork, batch_id: UUID, fees: FeeSchedule) -> PayoutDispatch:
    """Return the response of a dispatch, as its transfers are now. A dry run lists them as `planned`.

    `queued` counts attempts left to the worker, `remaining` the payouts that could be sent and that this batch did not
    select. `feesMinor` is the schedule's fees for the transfers in `totalMinor`. Raises NotFound.
    """
    batch = await uow.fetch_row(_READ_BATCH, batch_id)
    if batch is None:
        raise NotFound
    lines = await uow.fetch(_LINES_OF_BATCH, batch_id)
    selected = [line for line in lines if line["outcome"] != "skipped"]
    sent_minor = [line["amount_minor"] for line in selected if line["status"] != "failed"]
    return PayoutDispatch.from_row(
        batch,
        batch_id=batch_id,
        submitted=sum(line["status"] not in ("planned", "reserved", "failed") for line in selected),
        queued=sum(line["status"] == "reserved" for line in selected),
        total_minor=sum(sent_minor),
        fees_minor=sum(map(fees.fee_minor, sent_minor)),
        transfers=[DispatchedTransfer.from_row(line) for line in selected],
        skipped=[SkippedPayout.from_row(line) for line in lines if line["outcome"] == "skipped"],
    )


async def describe_batch_with_payees(
    uow: UnitOfWork, batch_id: UUID, fees: FeeSchedule, alone_max_minor: int
) -> PayoutBatchDetail:
    """Return a dispatch with the payee of each line: vendor, bank, account and holder. One person sends a preview of at
    most `alone_max_minor` kobo.

    The response of the dispatch itself is stored for its key, so it has no names. Raises NotFound.
    """
    batch = await describe_batch(uow, batch_id, fees)
    [maker] = await uow.fetch(_READ_MAKER, batch_id)
    rows = await uow.fetch(_PAYEES_OF_BATCH, batch_id)
    payees = {row["payout_id"]: {**row, "bank_name": bank_name_of(row)} for row in rows}
    return PayoutBatchDetail.from_record(
        batch,
        dispatched_by=maker["dispatched_by"],
        created_at=iso(maker["created_at"]),
        hash=_hash_of(batch, payees, fees) if batch.dry_run else None,
        approval_required=batch.dry_run and batch.total_minor > alone_max_minor,
        approval=None if maker["status"] is None else PayoutRunApproval.from_row(maker),
        transfers=[
            BatchTransfer.from_row(
                {**payees[one.payout_id], **structs.asdict(one), "fee_minor": fees.fee_minor(one.amount_minor)}
            )
            for one in batch.transfers
        ],
        skipped=[
            BatchSkippedPayout.from_row({**payees[one.payout_id], **structs.asdict(one)}) for one in batch.skipped
        ],
    )


async def hash_of_list(uow: UnitOfWork, batch_id: UUID, fees: FeeSchedule) -> str:
    """Return the hash of what a batch selected: payouts, vendors, accounts, amounts and fees, in order."""
    payees = {row["payout_id"]: row for row in await uow.fetch(_PAYEES_OF_BATCH, batch_id)}
    return _hash_of(await describe_batch(uow, batch_id, fees), payees, fees)


def _hash_of(batch: PayoutDispatch, payees: Mapping[UUID, Row], fees: FeeSchedule) -> str:
    return content_hash(
        {
            "payouts": [
                [*(payees[one.payout_id][name] for name in _HASHED), one.amount_minor, fees.fee_minor(one.amount_minor)]
                for one in batch.transfers
            ]
        }
    )
