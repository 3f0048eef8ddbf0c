"""Disputes of charges, for finance and auditors."""

from typing import Final, TypedDict
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from common.web.pages import Found, OffsetPage
from common.web.response_models import Row
from payments.responses.chargebacks import Chargeback, ChargebackDetail, ChargebackSubmission

_CHARGEBACK: Final = """
SELECT b.id,
       coalesce((SELECT whole.identity FROM chargebacks whole WHERE whole.id = b.part_of), b.identity) AS dispute_id,
       b.order_id, number_of_order(b.order_id) AS order_number, b.amount_minor, b.currency, b.status, b.reason,
       b.loss_minor, b.due_at, b.responded_at, b.opened_at AS created_at, b.decided_at, b.part_of AS whole_id
FROM chargebacks b
"""
# A refund made outside is a refund, and no dispute.
_FILTER: Final = (
    "b.identity NOT LIKE 'outside:%' AND ($1::text IS NULL OR b.status = $1) AND ($2::uuid IS NULL OR b.order_id = $2)"
)
# An open dispute without a resolution, sent or on its way.
AWAITING_RESPONSE: Final = """b.status = 'opened' AND b.part_of IS NULL AND b.responded_at IS NULL AND NOT EXISTS (
    SELECT FROM chargeback_responses r
    WHERE r.chargeback_id = b.id AND r.kind = 'resolution' AND r.status IN ('submitting', 'submitted')
)"""
_SORTS: Final = {"created_at": "b.opened_at", "amount": "b.amount_minor", "due_at": "b.due_at"}
_RESPONSES: Final = """
SELECT id, kind, resolution, message, amount_minor, content_hash, status, failure, created_by, created_at, finished_at
FROM chargeback_responses WHERE chargeback_id = coalesce((SELECT part_of FROM chargebacks WHERE id = $1), $1)
ORDER BY created_at, id
"""


async def page_of_chargebacks(
    uow: UnitOfWork, page: OffsetPage, status: str | None, order_id: UUID | None, *, awaiting_response: bool = False
) -> Found[Chargeback]:
    """Chargebacks by status and order, and those that await a response. `lossMinor` is the uncovered part of a loss."""
    where = f"WHERE {_FILTER} AND {AWAITING_RESPONSE if awaiting_response else 'true'}"
    total = await uow.fetch_value(f"SELECT count(*) FROM chargebacks b {where}", status, order_id)
    order = page.order_by(_SORTS[page.sort], "b.id")
    rows = await uow.fetch(
        f"{_CHARGEBACK} {where} {order} LIMIT $3 OFFSET $4", status, order_id, page.limit, page.offset
    )
    return [Chargeback.from_row(row, **_whole(row)) for row in rows], total


async def find_chargeback(uow: UnitOfWork, chargeback_id: UUID) -> ChargebackDetail:
    """Return a chargeback with the responses to it, oldest first. Raises NotFound."""
    row = await uow.fetch_row(f"{_CHARGEBACK} WHERE b.id = $1", chargeback_id)
    if row is None:
        raise NotFound
    responses = await uow.fetch(_RESPONSES, chargeback_id)
    submissions = [ChargebackSubmission.from_row(each) for each in responses]
    return ChargebackDetail.from_row(row, responses=submissions, **_whole(row))


class _Whole(TypedDict, total=False):
    part_of: UUID


def _whole(row: Row) -> _Whole:
    """Return the dispute that the row is a part of; nothing for any other."""
    return {} if row["whole_id"] is None else {"part_of": row["whole_id"]}
