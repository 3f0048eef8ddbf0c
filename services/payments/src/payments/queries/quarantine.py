"""Quarantined charges with their newest decision."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

import asyncpg

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from common.web.pages import Found, OffsetPage
from payments.domain import decisions
from payments.domain.quarantine import QuarantineStep
from payments.responses.decisions import QuarantinedCharge, QuarantineDecision

# Only the newest decision counts; the earlier ones were rejected.
_CHARGE: Final = """
SELECT q.id, q.reference, q.order_id, number_of_order(q.order_id) AS order_number,
       q.amount_minor, q.currency, q.reason, q.status, q.refund_id, q.created_at,
       d.id AS decision_id, d.outcome AS decision__outcome, d.status AS decision__status, d.reason AS decision__reason,
       d.prepared_by AS decision__prepared_by, d.prepared_at AS decision__prepared_at,
       d.decided_by AS decision__decided_by, d.decided_at AS decision__decided_at,
       d.rejection AS decision__rejection_reason
FROM quarantined_charges q LEFT JOIN LATERAL (
    SELECT * FROM quarantine_decisions WHERE quarantined_charge_id = q.id ORDER BY prepared_at DESC, id DESC LIMIT 1
) d ON true
"""
_FILTER: Final = "($1::text IS NULL OR q.status = $1)"
AWAITING_CHARGES: Final[Mapping[QuarantineStep, str]] = {
    "preparation": "q.status = 'quarantined'",
    "approval": """q.status = 'prepared' AND EXISTS (
        SELECT FROM quarantine_decisions w
        WHERE w.quarantined_charge_id = q.id AND w.status = 'prepared' AND w.prepared_by <> (SELECT app_user_id())
    )""",
}


async def page_of_quarantined_charges(
    uow: UnitOfWork, page: OffsetPage, status: str | None, awaiting: QuarantineStep | None = None
) -> Found[QuarantinedCharge]:
    """Quarantined charges by status, and those that await a step of the caller."""
    where = f"WHERE {_FILTER} AND {AWAITING_CHARGES[awaiting] if awaiting else 'true'}"
    total = await uow.fetch_value(f"SELECT count(*) FROM quarantined_charges q {where}", status)
    order = page.order_by({"created_at": "q.created_at"}[page.sort], "q.id")
    rows = await uow.fetch(f"{_CHARGE} {where} {order} LIMIT $2 OFFSET $3", status, page.limit, page.offset)
    return [_charge(row) for row in rows], total


async def find_quarantined_charge(uow: UnitOfWork, charge_id: UUID) -> QuarantinedCharge:
    """Raise NotFound."""
    row = await uow.fetch_row(f"{_CHARGE} WHERE q.id = $1", charge_id)
    if row is None:
        raise NotFound
    return _charge(row)


def _charge(row: asyncpg.Record) -> QuarantinedCharge:
    prepared = None
    if row["decision_id"] is not None:
        prepared = QuarantineDecision.from_row(row, "decision__", hash=_hash_of(row))
    # Every quarantined charge is one for fraud (specification: Lifecycle rules).
    return QuarantinedCharge.from_row(row, fraud_flag=True, hash=prepared and prepared.hash, decision=prepared)


def _hash_of(row: asyncpg.Record) -> str:
    return decisions.QuarantineDecision(
        row["decision_id"],
        row["decision__prepared_by"],
        row["id"],
        row["reference"],
        row["amount_minor"],
        row["currency"],
        row["decision__outcome"],
        row["decision__reason"],
    ).hash
