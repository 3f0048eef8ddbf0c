"""The plan of a dispatch: which payouts it sends, and why it skips others. Amounts in kobo.

**Every reason to skip** a payout notifies someone, and someone can act on it (`SkipReason`; a test compares them):

- `not_found`, `not_pending`, `already_dispatched`, `max_total_reached`. Notified: the response of the dispatch. Acts:
  finance, with another dispatch where one is needed.
- `credit_not_released`, `release_statement_awaited`. Notified: exception of the vendor: SEV-1, and SEV-2 after 20
  minutes. Acts: on-call staff; it ends with the statement or a correction.
- `vendor_suspended`. Notified: the vendor, by the suspension. Acts: campus staff reinstate the vendor.
- `transfer_contradicted`. Notified: exception, SEV-1; the statement's line. Acts: two users of finance reconcile the
  payout.
- `disputed`. Notified: alert and notice of the chargeback. Acts: it ends with the decision, or when the wallet holds
  all that is at stake.
- `debt_outstanding`. Notified: the vendor, by the refund or chargeback. Acts: later releases, or the vendor cancels
  the payout.
- `bank_details_changed`. Notified: exception of the payout, SEV-3; the vendor (`payout_delayed`). Acts: the vendor
  sets the details again, or cancels; finance quarantines.
- `bank_details_cooling`. Notified: the vendor, by the notice of the change; `payoutsFrom`. Acts: no one: it ends at
  `payoutsFrom`.
- `held`. Notified: the vendor (`payout_delayed`). Acts: finance releases the payout.
- `dispatch_stopped`. Notified: staff, by `GET /api/stops/dispatch`. Acts: on-call staff lift the stop, or it expires.
- `balance_insufficient`. Notified: exception of the batch, SEV-1. Acts: finance tops up the balance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal
from uuid import UUID

from payouts.domain.release_statements import Cover
from payouts.domain.transfer_fees import FeeSchedule

HoldReason = Literal[
    "not_pending",
    "credit_not_released",
    "release_statement_awaited",
    "dispatch_stopped",
    "held",
    "vendor_suspended",
    "transfer_contradicted",
    "disputed",
    "debt_outstanding",
    "bank_details_changed",
    "bank_details_cooling",
]
SkipReason = Literal["not_found", "already_dispatched", HoldReason, "max_total_reached", "balance_insufficient"]

# The most payouts of one batch; `remaining` in its response counts the others.
BATCH_PAYOUTS_MAX: Final = 200
SUBMISSIONS_CONCURRENT_MAX: Final = 8
# No submission of a request starts after this; the worker sends the rest of the batch. With the balance query before
# and the open calls after it, a request stays below the time limit of the gateway's route.
SEND_FOR_SECONDS: Final = 15.0
# A dispatcher without a record for this long is dead. It is longer than all its calls together.
LEASE: Final = timedelta(seconds=90)
# A call without a response may reach the gateway until this long after its start, and never later. Until then a missing
# transfer is no failure. It is far above all timeouts of a submission, and above its lease.
LOST_CALL: Final = timedelta(minutes=15)
# A transfer is queried again at these times after its end: a bank may return or send the money, and that webhook may be
# lost.
POLLS_AFTER_END: Final = (timedelta(days=1), timedelta(days=7))
# A transfer under way whose webhook may be lost is polled after this time, then less and less often.
FIRST_POLL_AFTER: Final = timedelta(minutes=10)
_POLL_AGAIN_AFTER: Final = timedelta(seconds=15)
_POLL_AT_LEAST_EVERY: Final = timedelta(hours=1)
# From this poll on an exception is open; the polling continues.
POLLS_BEFORE_EXCEPTION: Final = 5


@dataclass(frozen=True, slots=True)
class Candidate:
    """A payout as the plan sees it. `attempted`: a process sends its present attempt, or the gateway has it.

    `cover`: whether the vendor's wallet received exactly what payments released. `transfer_contradicted`: money of the
    vendor that may have been paid twice waits for a decision. `disputed`: it contains money that an open chargeback may
    take, and that no hold covers.
    """

    payout_id: UUID
    vendor_id: UUID
    amount_minor: int
    cover: Cover
    pending: bool
    attempted: bool
    bank_details_valid: bool
    vendor_suspended: bool
    bank_details_cooling: bool
    vendor_has_debt: bool
    transfer_contradicted: bool = False
    disputed: bool = False
    # The payout's number for people.
    number: str | None = None
    # Finance holds this payout.
    held: bool = False
    # Staff on call have stopped all dispatches.
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class PlanLine:
    payout_id: UUID
    amount_minor: int
    skipped: SkipReason | None


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """The lines of a batch. `short`: the gateway's balance does not cover amounts and fees, and nothing is sent."""

    lines: tuple[PlanLine, ...]
    short: bool
    # The gateway's fees for the transfers of the batch.
    fees_minor: int

    @property
    def selected(self) -> list[UUID]:
        """The payouts that the batch sends, in order."""
        return [line.payout_id for line in self.lines if line.skipped is None]

    @property
    def planned_minor(self) -> int:
        return sum(line.amount_minor for line in self.lines if line.skipped is None)

    @property
    def stopped_minor(self) -> int:
        return sum(line.amount_minor for line in self.lines if line.skipped == "balance_insufficient")


@dataclass(frozen=True, slots=True)
class ShortBatch:
    """A batch that the gateway's balance does not cover; `amount_minor` is its total in kobo."""

    batch_id: UUID
    amount_minor: int


@dataclass(frozen=True, slots=True)
class HeldVendor:
    """A vendor whose payouts are all held; `amount_minor` is the wrong part of the wallet's credits, in kobo."""

    vendor_id: UUID
    amount_minor: int


@dataclass(frozen=True, slots=True)
class HeldPayout:
    """A payout that a dispatch skips, and that has no attempt under way; `amount_minor` in kobo."""

    payout_id: UUID
    vendor_id: UUID
    amount_minor: int
    number: str | None


def skip_payout_reason(candidate: Candidate) -> SkipReason | None:
    """Return why a batch skips this payout; None when it sends it."""
    if candidate.pending and candidate.attempted:
        return "already_dispatched"
    return hold_reason(candidate)


def hold_reason(candidate: Candidate) -> HoldReason | None:
    """Return why this payout may not be sent now, by a batch or by the worker; None when it may."""
    reasons: tuple[tuple[bool, HoldReason], ...] = (
        (not candidate.pending, "not_pending"),
        (candidate.cover == "not_released", "credit_not_released"),
        (candidate.cover == "waiting", "release_statement_awaited"),
        (candidate.stopped, "dispatch_stopped"),
        (candidate.held, "held"),
        (candidate.vendor_suspended, "vendor_suspended"),
        (candidate.transfer_contradicted, "transfer_contradicted"),
        (candidate.disputed, "disputed"),
        (candidate.vendor_has_debt, "debt_outstanding"),
        (not candidate.bank_details_valid, "bank_details_changed"),
        (candidate.bank_details_cooling, "bank_details_cooling"),
    )
    return next((reason for applies, reason in reasons if applies), None)


def plan_batch(
    candidates: Sequence[Candidate],
    absent: Sequence[UUID],
    max_total_minor: int | None,
    gateway_balance_minor: int,
    fees: FeeSchedule,
) -> BatchPlan:
    """Select candidates in order while the sum stays within `max_total_minor`. A smaller one further on still fits.

    The balance must cover the fees of the transfers too; `max_total_minor` limits the amounts alone.
    """
    lines: list[PlanLine] = [PlanLine(payout_id, 0, "not_found") for payout_id in absent]
    total_minor = fees_minor = 0
    for candidate in candidates:
        skipped = skip_payout_reason(candidate)
        if skipped is None and max_total_minor is not None and total_minor + candidate.amount_minor > max_total_minor:
            skipped = "max_total_reached"
        if skipped is None:
            total_minor += candidate.amount_minor
            fees_minor += fees.fee_minor(candidate.amount_minor)
        lines.append(PlanLine(candidate.payout_id, candidate.amount_minor, skipped))
    if total_minor + fees_minor <= gateway_balance_minor:
        return BatchPlan(tuple(lines), short=False, fees_minor=fees_minor)
    stopped = (PlanLine(line.payout_id, line.amount_minor, line.skipped or "balance_insufficient") for line in lines)
    return BatchPlan(tuple(stopped), short=True, fees_minor=fees_minor)


def next_poll(ended_at: datetime, now: datetime) -> datetime | None:
    """Return when an ended transfer is queried again; None after the last time."""
    return next((ended_at + age for age in POLLS_AFTER_END if ended_at + age > now), None)


def poll_backoff(poll_count: int) -> timedelta:
    """Return the wait before the next query of a transfer that is open after `poll_count` queries."""
    return min(_POLL_AGAIN_AFTER * (1 << min(poll_count, 10)), _POLL_AT_LEAST_EVERY)
