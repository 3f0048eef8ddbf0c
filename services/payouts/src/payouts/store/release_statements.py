"""SQL for writes to payments' statements, and the vendors' recorded totals. No decision is made here."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger.posting import Effect
from payouts.domain.release_statements import (
    PAID_KINDS,
    RECEIVED_KINDS,
    STATEMENTS_TRIED_MAX,
    ReceivedTotals,
    ReleaseCheckpoint,
    Statement,
)

# The same statement under another event id is a repetition. Two with one number and different signatures are both
# stored: one is forged.
_SAVE: Final = """
INSERT INTO release_statements (vendor_id, sequence, signature, source, line_key, amount_minor, net_minor, key_id,
                                received_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (vendor_id, sequence, signature) DO NOTHING
"""
# One SQL statement: lines, balances and statements are of one moment. All statements are ranked only when a number is
# missing: without a gap, a statement's place is its number. What the checkpoint covers is not read again.
_READ: Final = f"""
SELECT v.vendor_id, lines.*, accounts.minor - lines.paid_minor AS balances_minor, stated.gap_since, stated.newest,
       odd.what AS oddity, EXISTS (SELECT FROM payout_exceptions AS e WHERE e.vendor_id = v.vendor_id
           AND e.payout_id IS NULL AND e.batch_id IS NULL AND e.status = 'open') AS has_exception,
       lines.last_received > begin.last_line AS has_new_lines, begin.upgraded_at
FROM unnest($1::uuid[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[])
     AS v (vendor_id, last_line, last_received, sequence, received_minor, paid_minor)
CROSS JOIN (
    SELECT last_line, CASE WHEN last_line > 0 THEN began_at END AS upgraded_at FROM release_statements_begin
) AS begin
CROSS JOIN LATERAL (
    SELECT (v.received_minor + coalesce(sum(net_minor) FILTER (WHERE kind = ANY ($2)), 0))::bigint AS lines_minor,
           (v.paid_minor + coalesce(sum(net_minor) FILTER (WHERE kind = ANY ($3)), 0))::bigint AS paid_minor,
           coalesce(max(position) FILTER (WHERE kind = ANY ($2) AND net_minor <> 0), v.last_received) AS last_received,
           coalesce(max(position), v.last_line) AS last_line, count(*) AS line_count
    FROM wallet_lines WHERE vendor_id = v.vendor_id AND position > v.last_line
) AS lines
CROSS JOIN LATERAL (
    SELECT coalesce(sum(CASE WHEN side = 'credit' THEN balance_minor ELSE -balance_minor END), 0)::bigint AS minor
    FROM ledger_balances
    WHERE account IN ('wallet:' || v.vendor_id, 'held:' || v.vendor_id, 'vendor_debt:' || v.vendor_id)
) AS accounts
CROSS JOIN LATERAL (
    SELECT v.sequence + count(DISTINCT sequence) = coalesce(max(sequence), v.sequence) AS whole
    FROM release_statements WHERE vendor_id = v.vendor_id AND sequence > v.sequence
) AS numbers
CROSS JOIN LATERAL (
    SELECT CASE WHEN NOT numbers.whole THEN (
               SELECT min(received_at) FROM (
                   SELECT received_at, sequence, v.sequence + dense_rank() OVER (ORDER BY sequence) AS place
                   FROM release_statements WHERE vendor_id = v.vendor_id AND sequence > v.sequence) AS ranked
               WHERE place < sequence
           ) END AS gap_since,
           coalesce((
               SELECT jsonb_agg(jsonb_build_array(source, amount_minor, sequence, net_minor, key_id, signature,
                          CASE WHEN numbers.whole OR sequence <= v.sequence THEN sequence ELSE (
                              SELECT v.sequence + count(DISTINCT lower.sequence) FROM release_statements AS lower
                              WHERE lower.vendor_id = v.vendor_id
                                AND lower.sequence > v.sequence AND lower.sequence <= newest.sequence) END)
                      ORDER BY sequence DESC, signature)
               FROM (SELECT * FROM release_statements WHERE vendor_id = v.vendor_id
                     ORDER BY sequence DESC, signature LIMIT {STATEMENTS_TRIED_MAX}) AS newest
           ), '[]') AS newest
) AS stated
LEFT JOIN LATERAL (
    SELECT 'Payout ' || p.id || ' is for ' || p.amount || ' kobo, and the wallet gave '
           || coalesce(b.balance_minor, 0) || '.' AS what
    FROM payout_requests AS p LEFT JOIN ledger_balances AS b ON b.account = 'in_transit:' || p.id
    WHERE p.vendor_id = v.vendor_id AND p.status = 'pending' AND b.balance_minor IS DISTINCT FROM p.amount
    UNION ALL
    SELECT 'Transfer ' || t.reference || ' is for ' || t.amount || ' kobo of a payout of ' || p.amount || '.'
    FROM payout_requests AS p JOIN payout_transfers AS t ON t.payout_id = p.id
    WHERE p.vendor_id = v.vendor_id AND p.status = 'pending' AND (t.amount <> p.amount OR t.vendor_id <> p.vendor_id)
    UNION ALL
    SELECT 'The ' || l.kind || ' of payout ' || l.payout_id || ' was decided by nobody.'
    FROM wallet_lines AS l LEFT JOIN payout_requests AS p ON p.id = l.payout_id AND p.vendor_id = l.vendor_id
    WHERE l.vendor_id = v.vendor_id AND l.position > v.last_line
        AND l.kind IN ('restitution', 'reversal', 'recovery_returned')
      AND CASE l.kind WHEN 'restitution' THEN p.status IS DISTINCT FROM 'failed'
               ELSE NOT EXISTS (SELECT FROM reconciliations AS r
                                WHERE r.payout_id = l.payout_id AND r.kind = l.kind AND r.status = 'approved') END
    UNION ALL
    SELECT 'Payout ' || coalesce(changed.payout_id::text, 'without a number') || ' gave back more than it took.'
    FROM (
        SELECT payout_id, sum(net_minor) AS minor FROM wallet_lines
        WHERE vendor_id = v.vendor_id AND position > v.last_line AND kind = ANY ($3) GROUP BY payout_id
    ) AS changed
    CROSS JOIN LATERAL (
        SELECT sum(net_minor) AS minor FROM wallet_lines
        WHERE payout_id = changed.payout_id AND vendor_id = v.vendor_id AND kind = ANY ($3)
    ) AS whole
    WHERE coalesce(whole.minor, changed.minor) > 0
    LIMIT 1
) AS odd ON true
"""
_LIST_UNSTATED: Final = """
SELECT l.source_key || ' (' || l.net_minor || ')' AS line FROM wallet_lines AS l
WHERE l.vendor_id = $1 AND l.kind = ANY ($2) AND l.net_minor <> 0
  AND l.position > (SELECT last_line FROM release_statements_begin)
  AND NOT EXISTS (SELECT FROM release_statements AS s WHERE s.vendor_id = l.vendor_id AND s.line_key = l.source_key
                  AND s.amount_minor = l.net_minor)
ORDER BY l.position LIMIT 10
"""
_LIST_OF_LINES: Final = """
SELECT s.line_key, s.source, s.amount_minor, s.sequence, s.net_minor, s.key_id, s.signature FROM release_statements AS s
JOIN wallet_lines AS l ON l.source_key = s.line_key AND l.vendor_id = s.vendor_id
WHERE s.vendor_id = $1 AND l.kind = ANY ($2) AND l.net_minor <> 0 ORDER BY s.received_at DESC LIMIT $3
"""
_LIST_TO_CHECK: Final = """
SELECT vendor_id FROM payout_exceptions WHERE status = 'open' AND payout_id IS NULL AND batch_id IS NULL
UNION SELECT vendor_id FROM payout_requests WHERE status = 'pending'
ORDER BY vendor_id LIMIT $1
"""
# How many newest lines are verified when a vendor's sum does not match: a forged one is among the newest.
LINES_CHECKED_MAX: Final = 500
_LINE_KINDS: Final = [kind for kind in RECEIVED_KINDS if kind != "correction"]


@dataclass(frozen=True, slots=True)
class VendorLedger:
    """A vendor's recorded totals, and its newest statements, the highest number first.

    `reached` are the sums that a checkpoint could record, without a statement; `lines_read` are those since the last
    one.
    """

    totals: ReceivedTotals
    statements: tuple[Statement, ...]
    reached: ReleaseCheckpoint
    lines_read: int


def received_statement(statement: Statement, line_key: str | None, received_at: datetime) -> Effect:
    """Return the write that saves a statement as received. `line_key` is the source of its event's line."""
    values = (
        statement.vendor_id,
        statement.sequence,
        statement.signature,
        statement.source,
        line_key,
        statement.amount_minor,
        statement.net_minor,
        statement.key_id,
        received_at,
    )
    return Effect(_SAVE, values)


async def read_vendor_ledgers(uow: UnitOfWork, checkpoints: Sequence[ReleaseCheckpoint]) -> list[VendorLedger]:
    """Return the totals of each vendor, all of one moment, continued from its checkpoint."""
    vendor_ids, *sums = zip(*map(astuple, checkpoints), strict=True) if checkpoints else ((),) * 6
    rows = await uow.fetch(_READ, vendor_ids, RECEIVED_KINDS, PAID_KINDS, *sums)
    return [
        VendorLedger(
            ReceivedTotals(
                row["vendor_id"],
                row["lines_minor"],
                row["balances_minor"],
                row["gap_since"],
                row["last_received"] > 0,
                row["has_new_lines"],
                row["upgraded_at"],
                row["oddity"],
                row["has_exception"],
            ),
            tuple(Statement(row["vendor_id"], *fields) for fields in row["newest"]),
            ReleaseCheckpoint(
                row["vendor_id"],
                row["last_line"],
                row["last_received"],
                received_minor=row["lines_minor"],
                paid_minor=row["paid_minor"],
            ),
            row["line_count"],
        )
        for row in rows
    ]


async def list_unstated_lines(uow: UnitOfWork, vendor_id: UUID) -> list[str]:
    """Return lines without a statement of their amount, with their net amounts."""
    return [row["line"] for row in await uow.fetch(_LIST_UNSTATED, vendor_id, _LINE_KINDS)]


async def list_statements_of_lines(uow: UnitOfWork, vendor_id: UUID) -> list[tuple[str, Statement]]:
    """Return the newest lines with a statement: the line's source, and the statement."""
    rows = await uow.fetch(_LIST_OF_LINES, vendor_id, _LINE_KINDS, LINES_CHECKED_MAX)
    return [
        (
            row["line_key"],
            Statement(
                vendor_id,
                row["source"],
                row["amount_minor"],
                row["sequence"],
                row["net_minor"],
                row["key_id"],
                row["signature"],
            ),
        )
        for row in rows
    ]


async def list_vendors_to_check(uow: UnitOfWork, limit: int) -> list[UUID]:
    """Return vendors with pending payouts, and those with an open exception of their own."""
    return [row["vendor_id"] for row in await uow.fetch(_LIST_TO_CHECK, limit)]
