"""Compares a wallet's credits with what payments released to its vendor (decision 32). Amounts in kobo."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal
from uuid import UUID

# The longest delay of an event from payments: above the whole retry ladder (756 s with its default delays).
LATE_AFTER: Final = timedelta(minutes=20)
# How many statements above the newest proven one are verified: only forged ones can have such numbers.
STATEMENTS_TRIED_MAX: Final = 20

# Lines of payments' releases, refunds and chargebacks, and of their corrections.
RECEIVED_KINDS: Final = ("release", "refund", "chargeback", "chargeback_won", "correction")
# Lines of the vendor's own payouts, and of remainders that the vendor gave up.
PAID_KINDS: Final = ("payout", "restitution", "reversal", "recovery", "recovery_returned", "waiver")

# A checkpoint follows after so many lines, so that a check reads fewer than this beside those of its own payouts.
LINES_TO_CHECKPOINT: Final = 100

Cover = Literal["covered", "waiting", "not_released"]


@dataclass(frozen=True, slots=True)
class Statement:
    """A received statement of payments, not verified yet. `ordinal` counts the numbers received up to this one."""

    vendor_id: UUID
    source: str
    amount_minor: int
    sequence: int
    net_minor: int
    key_id: str
    signature: str
    ordinal: int = 0

    @property
    def message(self) -> bytes:
        """The text that payments signed, as in `contracts.payments.statement_message`."""
        parts = (self.vendor_id, self.source, self.amount_minor, self.sequence, self.net_minor)
        return "|".join(("campus.release-statement.v1", *map(str, parts))).encode()

    @property
    def has_gap(self) -> bool:
        """Return whether a statement with a lower number is missing."""
        return self.ordinal < self.sequence


@dataclass(frozen=True, slots=True)
class ReleaseCheckpoint:
    """The sums of a vendor's lines up to the position `last_line`, at which the statement `sequence` covered them.

    `last_received` is the position of the newest line of `RECEIVED_KINDS`. All are 0 before the first checkpoint.
    """

    vendor_id: UUID
    last_line: int = 0
    last_received: int = 0
    sequence: int = 0
    received_minor: int = 0
    paid_minor: int = 0

    @property
    def message(self) -> str:
        """The authenticated text."""
        sums = (self.last_line, self.last_received, self.sequence, self.received_minor, self.paid_minor)
        return "|".join(("release-checkpoint", str(self.vendor_id), *map(str, sums)))


@dataclass(frozen=True, slots=True)
class ReceivedTotals:
    """The recorded totals of one vendor, read in one statement.

    `lines_minor` is the sum of the lines of `RECEIVED_KINDS`; `balances_minor` is the sum of the vendor's accounts plus
    payouts. `gap_since` is when a statement without its predecessor arrived. `anomaly` names a payout or a return
    without a posting or decision. `has_new_lines`: lines exist from after the upgrade that introduced statements, at
    `upgraded_at` (None for a system that started with them). `has_exception`: the vendor has an open one.
    """

    vendor_id: UUID
    lines_minor: int
    balances_minor: int
    gap_since: datetime | None
    has_lines: bool
    has_new_lines: bool
    upgraded_at: datetime | None
    anomaly: str | None = None
    has_exception: bool = True


@dataclass(frozen=True, slots=True)
class CoverCheck:
    """The result of the comparison. `surplus_minor` is the credit beyond what payments released; below zero, what is
    missing.
    """

    cover: Cover
    detail: str = ""
    surplus_minor: int = 0
    waits_since: datetime | None = None
    # Whether a statement measures `surplus_minor` and the ledger is consistent: only then can it be corrected.
    is_correctable: bool = False
    # Whether the vendor had an open exception when the totals were read.
    has_exception: bool = True

    def is_late(self, now: datetime) -> bool:
        """Return whether the wait is longer than any event may take."""
        return self.waits_since is not None and now - self.waits_since > LATE_AFTER


COVERED: Final = CoverCheck("covered")


def evaluate_cover(totals: ReceivedTotals, newest: Statement | None, now: datetime) -> CoverCheck:
    """Compare the totals with `newest`, the statement with the highest number and a valid signature."""
    if totals.anomaly is not None:
        return CoverCheck("not_released", totals.anomaly)
    if totals.balances_minor != totals.lines_minor:
        difference = totals.balances_minor - totals.lines_minor
        return CoverCheck(
            "not_released", f"The accounts differ from the statement lines by {difference} kobo.", difference
        )
    if newest is None:
        return _evaluate_without_statement(totals, now)
    if newest.has_gap:
        return CoverCheck(
            "waiting", "An event of payments about this vendor has not arrived.", waits_since=totals.gap_since
        )
    surplus = totals.lines_minor - newest.net_minor
    if surplus == 0:
        return COVERED
    if surplus < 0 and _is_in_upgrade(totals, now):
        return CoverCheck("waiting", "An event from before the upgrade is under way.", waits_since=totals.upgraded_at)
    how = "more" if surplus > 0 else "less"
    return CoverCheck(
        "not_released",
        f"The wallet received {abs(surplus)} kobo {how} than payments released.",
        surplus,
        is_correctable=True,
    )


def has_covered_lines(verdict: CoverCheck, lines_read: int) -> bool:
    """Return whether the lines since the last checkpoint are covered, and enough for the next one."""
    return verdict.cover == "covered" and lines_read >= LINES_TO_CHECKPOINT


def _evaluate_without_statement(totals: ReceivedTotals, now: datetime) -> CoverCheck:
    if not totals.has_lines:
        return COVERED
    if totals.upgraded_at is not None and (not totals.has_new_lines or _is_in_upgrade(totals, now)):
        return CoverCheck(
            "waiting", "Payments has not stated anything about this vendor yet.", waits_since=totals.upgraded_at
        )
    detail = f"The wallet received {totals.lines_minor} kobo, and payments never stated that it released anything."
    return CoverCheck("not_released", detail, totals.lines_minor, is_correctable=True)


def _is_in_upgrade(totals: ReceivedTotals, now: datetime) -> bool:
    """While processes of the previous version may publish events without a statement."""
    return totals.upgraded_at is not None and now - totals.upgraded_at <= LATE_AFTER


def describe_unstated_lines(lines: Sequence[str]) -> str:
    """Return a sentence that lists the lines without a statement."""
    return f" Lines without a statement: {', '.join(lines)}." if lines else ""
