"""Which payouts a dispatch takes, and which it leaves and why. Amounts in kobo."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal
from uuid import UUID

from payouts.domain.release_statements import Cover

SkipReason = Literal[
    "not_found",
    "not_pending",
    "already_dispatched",
    "credit_not_released",
    "release_statement_awaited",
    "vendor_suspended",
    "debt_outstanding",
    "bank_details_changed",
    "bank_details_cooling",
    "max_total_reached",
    "balance_insufficient",
]

# What one batch takes at most; `remaining` of its answer tells of more.
BATCH_PAYOUTS_MAX: Final = 200
SUBMISSIONS_CONCURRENT_MAX: Final = 8
# A request begins no submission after this; the worker sends the rest of the batch, and the answer comes in time. With the balance
# before it and the calls of the submissions that had begun after it, it stays below the gateway route's own limit.
SEND_FOR_SECONDS: Final = 15.0
# A dispatcher that has not recorded anything for this long is dead: longer than all its calls together may take.
LEASE: Final = timedelta(seconds=90)
# A call whose answer nobody has may still reach the gateway until this long after it was begun, and never later. Until then silence is
# no failure. Far above all time-outs of a submission, and above its lease.
LOST_CALL: Final = timedelta(minutes=15)
# After a success the gateway is asked again at these ages: a bank may send the money back, and the webhook of that may be lost for good.
POLLS_AFTER_SUCCESS: Final = (timedelta(days=1), timedelta(days=7))
# A transfer on its way whose webhook may be lost is asked for after this, then less and less often.
FIRST_POLL_AFTER: Final = timedelta(minutes=10)
_POLL_AGAIN_AFTER: Final = timedelta(seconds=15)
_POLL_AT_LEAST_EVERY: Final = timedelta(hours=1)
# From this question on people hear of it; the asking goes on.
POLLS_BEFORE_EXCEPTION: Final = 5


@dataclass(frozen=True, slots=True)
class Candidate:
    """A payout as the plan sees it. `attempted`: its present attempt is somebody's to send, or with the gateway.

    `cover`: whether its vendor's wallet received what payments released, and nothing else.
    """

    payout_id: UUID
    amount_minor: int
    cover: Cover
    pending: bool
    attempted: bool
    bank_details_valid: bool
    vendor_suspended: bool = False
    bank_details_cooling: bool = False
    vendor_has_debt: bool = False


@dataclass(frozen=True, slots=True)
class PlanLine:
    payout_id: UUID
    amount_minor: int
    skipped: SkipReason | None


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """The lines of a batch. `short` says that the gateway's balance does not cover it: nothing is sent."""

    lines: tuple[PlanLine, ...]
    short: bool

    @property
    def selected(self) -> list[UUID]:
        """The payouts that the batch takes, in their order."""
        return [line.payout_id for line in self.lines if line.skipped is None]

    @property
    def planned_minor(self) -> int:
        return sum(line.amount_minor for line in self.lines if line.skipped is None)

    @property
    def stopped_minor(self) -> int:
        return sum(line.amount_minor for line in self.lines if line.skipped == "balance_insufficient")


@dataclass(frozen=True, slots=True)
class ShortBatch:
    """A batch that the gateway's balance does not cover; `amount_minor` is what it asked for."""

    batch_id: UUID
    amount_minor: int


@dataclass(frozen=True, slots=True)
class HeldVendor:
    """A vendor whose payouts are all held; `amount_minor` is what their wallet received wrongly."""

    vendor_id: UUID
    amount_minor: int


def skip_payout_reason(candidate: Candidate) -> SkipReason | None:
    """Why a batch cannot take this payout now; None when it can."""
    if candidate.pending and candidate.attempted:
        return "already_dispatched"
    return hold_reason(candidate)


def hold_reason(candidate: Candidate) -> SkipReason | None:
    """Why this payout may not leave now, whoever sends it; None when it may."""
    if not candidate.pending:
        return "not_pending"
    if candidate.cover == "not_released":
        return "credit_not_released"
    if candidate.cover == "waiting":
        return "release_statement_awaited"
    if candidate.vendor_suspended:
        return "vendor_suspended"
    if candidate.vendor_has_debt:
        return "debt_outstanding"
    if not candidate.bank_details_valid:
        return "bank_details_changed"
    if candidate.bank_details_cooling:
        return "bank_details_cooling"
    return None


def plan_batch(
    candidates: Sequence[Candidate], absent: Sequence[UUID], max_total_minor: int | None, gateway_balance_minor: int
) -> BatchPlan:
    """Takes candidates in their order while the sum stays within `max_total_minor`; a smaller one further on still fits."""
    lines: list[PlanLine] = [PlanLine(payout_id, 0, "not_found") for payout_id in absent]
    total_minor = 0
    for candidate in candidates:
        skipped = skip_payout_reason(candidate)
        if skipped is None and max_total_minor is not None and total_minor + candidate.amount_minor > max_total_minor:
            skipped = "max_total_reached"
        if skipped is None:
            total_minor += candidate.amount_minor
        lines.append(PlanLine(candidate.payout_id, candidate.amount_minor, skipped))
    if total_minor <= gateway_balance_minor:
        return BatchPlan(tuple(lines), short=False)
    stopped = (PlanLine(line.payout_id, line.amount_minor, line.skipped or "balance_insufficient") for line in lines)
    return BatchPlan(tuple(stopped), short=True)


def next_poll(arrived_at: datetime, now: datetime) -> datetime | None:
    """When the gateway is asked again about a transfer that arrived; None after the last look."""
    return next((arrived_at + age for age in POLLS_AFTER_SUCCESS if arrived_at + age > now), None)


def poll_backoff(poll_count: int) -> timedelta:
    """How long to wait before the gateway is asked again for a transfer that it left open `asks` times."""
    return min(_POLL_AGAIN_AFTER * (1 << min(poll_count, 10)), _POLL_AT_LEAST_EVERY)
