"""Refunds: the buyer's own, and all for finance, support and auditors."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import asyncpg

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from common.web.pages import Found, OffsetPage
from payments.domain import decisions
from payments.domain.destinations import names_match
from payments.domain.identifiers import refund_reference
from payments.domain.refunds import RefundStep
from payments.responses.decisions import Refund, RefundDecision, RefundDestination

_REFUND: Final = """
SELECT f.id, f.order_id, number_of_order(f.order_id) AS order_number,
       f.kind, f.amount_minor + f.balance_minor AS amount_minor, f.balance_minor, f.currency, f.status, f.reason,
       f.failure, f.needs_account_at IS NOT NULL AS needs_account, f.attempt_id, f.created_at,
       f.settled_at, d.id AS decision_id, d.action AS decision__action, d.status AS decision__status,
       d.reason AS decision__reason, d.prepared_by AS decision__prepared_by, d.prepared_at AS decision__prepared_at,
       d.decided_by AS decision__decided_by, d.decided_at AS decision__decided_at,
       d.rejection AS decision__rejection_reason, d.recipient_code, d.account_last4 AS destination__last4,
       d.bank_code AS destination__bank_code, d.account_name AS destination__account_name,
       d.name_at_bank AS destination__name_at_bank
FROM refunds f LEFT JOIN LATERAL (
    SELECT * FROM refund_decisions WHERE refund_id = f.id ORDER BY prepared_at DESC, id DESC LIMIT 1
) d ON true
"""
# The caller's own refunds, and all for staff. The row policy enforces it; the planner needs it here.
_OWN: Final = """
(f.buyer_id = app_user_id() OR app_may('ledger:read') OR app_may('refunds:read') OR app_may('refunds:prepare')
    OR app_may('refunds:approve'))
"""
_FILTER: Final = f"""
{_OWN} AND ($1::text IS NULL OR f.status = $1) AND ($2::text IS NULL OR f.kind = $2)
    AND ($3::uuid IS NULL OR f.order_id = $3)
    AND ($4::timestamptz IS NULL OR f.created_at >= $4) AND ($5::timestamptz IS NULL OR f.created_at < $5)
    AND ($6::uuid IS NULL OR f.attempt_id = $6) AND ($7::uuid IS NULL OR f.buyer_id = $7)
"""
AWAITING_REFUNDS: Final[Mapping[RefundStep, str]] = {
    "preparation": "f.status = 'failed' AND f.kind <> 'outside'",
    "approval": """(f.status = 'prepared' OR f.kind = 'outside') AND EXISTS (
        SELECT FROM refund_decisions w
        WHERE w.refund_id = f.id AND w.status = 'prepared' AND w.prepared_by <> (SELECT app_user_id())
    )""",
}
_SORTS: Final = {"created_at": "f.created_at", "amount": "f.amount_minor + f.balance_minor"}


@dataclass(frozen=True, slots=True)
class RefundFilter:
    """The filters of refunds, in the order of the statement; None: any. `attempt_id` is that of a reference."""

    status: str | None = None
    kind: str | None = None
    order_id: UUID | None = None
    start: datetime | None = None
    end: datetime | None = None
    attempt_id: UUID | None = None
    buyer_id: UUID | None = None


async def page_of_refunds(
    uow: UnitOfWork, page: OffsetPage, chosen: RefundFilter, awaiting: RefundStep | None = None
) -> Found[Refund]:
    """Return the chosen refunds, and of these those that await a step of the caller."""
    filters = astuple(chosen)
    where = f"WHERE {_FILTER} AND {AWAITING_REFUNDS[awaiting] if awaiting else 'true'}"
    total = await uow.fetch_value(f"SELECT count(*) FROM refunds f {where}", *filters)
    order = page.order_by(_SORTS[page.sort], "f.id")
    rows = await uow.fetch(f"{_REFUND} {where} {order} LIMIT $8 OFFSET $9", *filters, page.limit, page.offset)
    return [_refund(row) for row in rows], total


async def find_refund(uow: UnitOfWork, refund_id: UUID) -> Refund:
    """Raise NotFound."""
    row = await uow.fetch_row(f"{_REFUND} WHERE f.id = $1", refund_id)
    if row is None:
        raise NotFound
    return _refund(row)


def _refund(row: asyncpg.Record) -> Refund:
    prepared = None
    if row["decision_id"] is not None:
        prepared = RefundDecision.from_row(row, "decision__", hash=_hash_of(row), destination=_destination(row))
    return Refund.from_row(
        row, reference=refund_reference(row["attempt_id"]), hash=prepared and prepared.hash, decision=prepared
    )


def _hash_of(row: asyncpg.Record) -> str:
    return decisions.RefundDecision(
        row["decision_id"],
        row["decision__prepared_by"],
        row["id"],
        row["amount_minor"] - row["balance_minor"],
        row["currency"],
        row["decision__action"],
        row["decision__reason"],
        row["recipient_code"],
        row["destination__last4"],
        row["destination__bank_code"],
        row["destination__account_name"],
        row["destination__name_at_bank"],
    ).hash


def _destination(row: asyncpg.Record) -> RefundDestination | None:
    if row["destination__last4"] is None:
        return None
    verified = names_match(row["destination__account_name"], row["destination__name_at_bank"])
    return RefundDestination.from_row(row, "destination__", verified=verified)
