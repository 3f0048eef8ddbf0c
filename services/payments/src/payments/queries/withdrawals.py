"""Withdrawals: the buyer's own, and all with their newest decision for finance and auditors."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

import asyncpg

from common.database.unit_of_work import Reads, UnitOfWork
from common.primitives.problems import NotFound
from common.web.pages import Found, OffsetPage
from common.web.response_models import Row
from payments.domain import withdrawals
from payments.domain.identifiers import withdrawal_reference
from payments.domain.withdrawals import WithdrawalStep
from payments.responses.withdrawals import StaffWithdrawal, WithdrawalDecision

_FIELDS: Final = """
w.id, w.amount_minor, 'NGN' AS currency, w.status, w.account_last4, w.bank_code, w.account_name, w.failure,
    w.created_at, w.paid_at
"""
# The user's own rows. The row policy shows staff all of them.
_OWN: Final = f"""
SELECT {_FIELDS} FROM withdrawals w
WHERE w.user_id = $1 AND ($2::timestamptz IS NULL OR (w.created_at, w.id) < ($2, $3::uuid))
ORDER BY w.created_at DESC, w.id DESC LIMIT $4
"""
_ONE_OWN: Final = f"SELECT {_FIELDS} FROM withdrawals w WHERE w.user_id = $1 AND w.id = $2"
_WITHDRAWAL: Final = f"""
SELECT {_FIELDS}, w.user_id, w.loss_minor, w.recipient_code,
       d.id AS decision_id, d.outcome AS decision__outcome, d.status AS decision__status, d.reason AS decision__reason,
       d.prepared_by AS decision__prepared_by, d.prepared_at AS decision__prepared_at,
       d.decided_by AS decision__decided_by, d.decided_at AS decision__decided_at,
       d.rejection AS decision__rejection_reason
FROM withdrawals w LEFT JOIN LATERAL (
    SELECT * FROM withdrawal_decisions WHERE withdrawal_id = w.id ORDER BY prepared_at DESC, id DESC LIMIT 1
) d ON true
"""
# The buyer of a withdrawal cannot decide on it.
AWAITING_WITHDRAWALS: Final[Mapping[WithdrawalStep, str]] = {
    "preparation": "w.status = 'waiting' AND w.user_id <> (SELECT app_user_id())",
    "approval": """w.status = 'prepared' AND w.user_id <> (SELECT app_user_id()) AND EXISTS (
        SELECT FROM withdrawal_decisions p
        WHERE p.withdrawal_id = w.id AND p.status = 'prepared' AND p.prepared_by <> (SELECT app_user_id())
    )""",
}
_SORTS: Final = {"created_at": "w.created_at", "amount": "w.amount_minor"}


async def list_own_withdrawals(reads: Reads, user_id: UUID, before: tuple[object, ...], limit: int) -> list[Row]:
    """Return the user's withdrawals, newest first, before a position; one more than `limit` when there are more."""
    return list(await reads.fetch(_OWN, user_id, *(before or (None, None)), limit + 1))


async def find_own_withdrawal(reads: Reads, user_id: UUID, withdrawal_id: UUID) -> Row:
    """Raise NotFound."""
    row = await reads.fetch_row(_ONE_OWN, user_id, withdrawal_id)
    if row is None:
        raise NotFound
    return row


async def page_of_withdrawals(
    uow: UnitOfWork, page: OffsetPage, status: str | None, awaiting: WithdrawalStep | None = None
) -> Found[StaffWithdrawal]:
    """Withdrawals by status, and those that await a step of the caller."""
    where = f"WHERE ($1::text IS NULL OR w.status = $1) AND {AWAITING_WITHDRAWALS[awaiting] if awaiting else 'true'}"
    total = await uow.fetch_value(f"SELECT count(*) FROM withdrawals w {where}", status)
    order = page.order_by(_SORTS[page.sort], "w.id")
    rows = await uow.fetch(f"{_WITHDRAWAL} {where} {order} LIMIT $2 OFFSET $3", status, page.limit, page.offset)
    return [_withdrawal(row) for row in rows], total


async def find_withdrawal(uow: UnitOfWork, withdrawal_id: UUID) -> StaffWithdrawal:
    """Raise NotFound."""
    row = await uow.fetch_row(f"{_WITHDRAWAL} WHERE w.id = $1", withdrawal_id)
    if row is None:
        raise NotFound
    return _withdrawal(row)


def _withdrawal(row: asyncpg.Record) -> StaffWithdrawal:
    prepared = None
    if row["decision_id"] is not None:
        prepared = WithdrawalDecision.from_row(row, "decision__", hash=_hash_of(row))
    return StaffWithdrawal.from_row(
        row, reference=withdrawal_reference(row["id"]), hash=prepared and prepared.hash, decision=prepared
    )


def _hash_of(row: asyncpg.Record) -> str:
    return withdrawals.WithdrawalDecision(
        row["decision_id"],
        row["decision__prepared_by"],
        row["id"],
        row["amount_minor"],
        row["recipient_code"],
        row["decision__outcome"],
        row["decision__reason"],
    ).hash
