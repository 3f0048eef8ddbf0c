"""Reads of statements: pages of a vendor's lines, and calendar months. Position and time order the lines alike."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from common.database.unit_of_work import Reads, UnitOfWork
from common.primitives.clock import iso
from payouts.domain.lagos import ZONE, Month
from payouts.domain.wallet import LineKind
from payouts.responses.wallets import StatementLine, StatementMonth, StatementMonthKind

# A line whose transaction started before midnight is written by then.
LAST_LINES_WITHIN: Final = timedelta(minutes=5)
_BEYOND_EVERY_POSITION: Final = 2**63 - 1
_LINES: Final = """
SELECT l.id, l.kind, l.order_id, l.payout_id, p.status AS payout_status, p.transfer_failure AS payout_failure,
       l.gross_minor, l.commission_minor, l.delivery_fee_minor, l.net_minor, l.balance_minor, l.at, l.position
FROM wallet_lines AS l LEFT JOIN payout_requests AS p ON p.id = l.payout_id
"""
# The index by time finds the period's limits once; the page is then read by position.
_PAGE_OF_STATEMENT: Final = f"""
{_LINES}
WHERE l.vendor_id = $1 AND ($6::text IS NULL OR l.kind = $6) AND ($7::uuid IS NULL OR l.order_id = $7)
  AND l.position < least($2, coalesce((SELECT position FROM wallet_lines
      WHERE vendor_id = $1 AND at >= coalesce($5::timestamptz, 'infinity') ORDER BY at, position LIMIT 1), $2))
  AND l.position >= coalesce((SELECT position FROM wallet_lines
      WHERE vendor_id = $1 AND at >= coalesce($4::timestamptz, '-infinity') ORDER BY at, position LIMIT 1), $2)
ORDER BY l.position DESC LIMIT $3
"""
_PAGE_OF_MONTH: Final = f"""
{_LINES} WHERE l.vendor_id = $1 AND l.position > $2 AND l.position <= $3 ORDER BY l.position LIMIT $4
"""
_READ_MONTH: Final = """
SELECT before.balance_minor AS opening_minor, kinds.* FROM
    (SELECT coalesce((SELECT balance_minor FROM wallet_lines WHERE vendor_id = $1 AND at < $2
                      ORDER BY at DESC, position DESC LIMIT 1), 0) AS balance_minor) AS before
LEFT JOIN
    (SELECT kind, count(*) AS lines, coalesce(sum(gross_minor), 0)::bigint AS gross_minor,
            coalesce(sum(commission_minor), 0)::bigint AS commission_minor,
            coalesce(sum(delivery_fee_minor), 0)::bigint AS delivery_fee_minor, sum(net_minor)::bigint AS net_minor,
            min(position) AS first_position, max(position) AS last_position
     FROM wallet_lines WHERE vendor_id = $1 AND at >= $2 AND at < $3 GROUP BY kind) AS kinds ON true
ORDER BY kinds.kind
"""


@dataclass(frozen=True, slots=True)
class StatementFilter:
    """Filters of a statement: a period without its end, a kind of line, and an order."""

    start: datetime | None = None
    end: datetime | None = None
    kind: LineKind | None = None
    order_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class MonthStatement:
    """A month's public summary, and the positions between which its lines are, however many arrive later."""

    summary: StatementMonth
    after: int
    last: int


async def page_of_statement(
    reads: Reads, vendor_id: UUID, before: int | None, limit: int, narrowed: StatementFilter
) -> tuple[list[StatementLine], int | None]:
    """Return lines from newest to oldest before a position, and the position of the next page."""
    rows = await reads.fetch(
        _PAGE_OF_STATEMENT,
        vendor_id,
        before or _BEYOND_EVERY_POSITION,
        limit + 1,
        narrowed.start,
        narrowed.end,
        narrowed.kind,
        narrowed.order_id,
    )
    return [StatementLine.from_row(row) for row in rows[:limit]], rows[limit - 1]["position"] if len(
        rows
    ) > limit else None


async def read_month(uow: UnitOfWork, vendor_id: UUID, month: Month, now: datetime) -> MonthStatement:
    """Return opening balance, sums for each kind of line and closing balance; `isOver` once no line can be added."""
    rows = await uow.fetch(_READ_MONTH, vendor_id, month.start, month.end)
    kinds = [row for row in rows if row["kind"] is not None]
    opening_minor: int = rows[0]["opening_minor"]
    net_minor = sum(row["net_minor"] for row in kinds)
    summary = StatementMonth(
        vendor_id=vendor_id,
        month=month.name,
        time_zone=ZONE,
        begin=iso(month.start),
        end=iso(month.end),
        is_over=now >= month.end + LAST_LINES_WITHIN,
        currency="NGN",
        opening_balance_minor=opening_minor,
        closing_balance_minor=opening_minor + net_minor,
        net_minor=net_minor,
        lines=sum(row["lines"] for row in kinds),
        kinds=[StatementMonthKind.from_row(row) for row in kinds],
    )
    after = min((row["first_position"] for row in kinds), default=1) - 1
    return MonthStatement(summary, after, max((row["last_position"] for row in kinds), default=0))


async def page_of_month(
    uow: UnitOfWork, vendor_id: UUID, after: int, last: int, limit: int
) -> tuple[list[StatementLine], int | None]:
    """Return lines after one position up to another, oldest first, and the position of the next page; None at the
    end.
    """
    rows = await uow.fetch(_PAGE_OF_MONTH, vendor_id, after, last, limit)
    ends_at = rows[-1]["position"] if rows else last
    return [StatementLine.from_row(row) for row in rows], ends_at if ends_at < last else None
