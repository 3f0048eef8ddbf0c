"""Whether a wallet received what payments released to its vendor, and nothing else (decision 32). Amounts in kobo."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal
from uuid import UUID

# How long a wallet may wait for an event of payments: longer than the whole retry ladder (756 s with its default delays).
LATE_AFTER: Final = timedelta(minutes=20)
# Of statements with a higher number than the newest one that is proven, so many are looked at: only forged ones stand there.
STATEMENTS_TRIED_MAX: Final = 20

# Lines that payments' releases, refunds and chargebacks made, and what an operator corrected of them.
RECEIVED_KINDS: Final = ("release", "refund", "chargeback", "chargeback_won", "correction")
# Lines of the vendor's own payouts.
PAID_KINDS: Final = ("payout", "restitution", "reversal", "recovery", "recovery_returned")

Cover = Literal["covered", "waiting", "not_released"]


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of payments as it arrived: not yet verified. `place` counts the numbers that arrived up to this one."""

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
        """What payments signed: the words of `contracts.payments.statement_message`."""
        parts = (self.vendor_id, self.source, self.amount_minor, self.sequence, self.net_minor)
        return "|".join(("campus.release-statement.v1", *map(str, parts))).encode()

    @property
    def has_gap(self) -> bool:
        """Whether a statement with a lower number has not arrived."""
        return self.ordinal < self.sequence


@dataclass(frozen=True, slots=True)
class ReceivedTotals:
    """What the books say of one vendor, read in one moment.

    `lines_minor` is the sum of the statement lines of `RECEIVED_KINDS`; `balances_minor` what the vendor's accounts hold of it, the
    payouts added. `gap_since` is when a statement arrived whose predecessor is missing. `oddity` names a payout or a return that has no
    posting or no decision behind it. `has_new_lines`: there are lines from after the upgrade that brought statements; `upgraded_at` is
    when that was, None for a system that began with them.
    """

    vendor_id: UUID
    lines_minor: int
    balances_minor: int
    gap_since: datetime | None
    has_lines: bool
    has_new_lines: bool
    upgraded_at: datetime | None
    anomaly: str | None = None


@dataclass(frozen=True, slots=True)
class CoverCheck:
    """`surplus_minor` is what the wallet received beyond what payments released; below zero, what it lacks."""

    cover: Cover
    detail: str = ""
    surplus_minor: int = 0
    waits_since: datetime | None = None
    # Whether `surplus_minor` is measured by a statement, and the books agree with themselves: only that can be posted back.
    is_correctable: bool = False

    def is_late(self, now: datetime) -> bool:
        """Whether a wait has lasted longer than a message may be under way."""
        return self.waits_since is not None and now - self.waits_since > LATE_AFTER


COVERED: Final = CoverCheck("covered")


def evaluate_cover(totals: ReceivedTotals, newest: Statement | None, now: datetime) -> CoverCheck:
    """Compares the books with `newest`, the statement with the highest number whose signature holds."""
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
            "waiting",
            "An event of payments about this vendor has not arrived.",
            waits_since=totals.gap_since,
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
    """While the version before still publishes events without a statement."""
    return totals.upgraded_at is not None and now - totals.upgraded_at <= LATE_AFTER


def describe_unstated_lines(lines: Sequence[str]) -> str:
    """A sentence that names the lines without a statement."""
    return f" Lines without a statement: {', '.join(lines)}." if lines else ""
