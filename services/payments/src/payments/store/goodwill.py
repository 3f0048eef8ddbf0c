"""SQL for goodwill refunds, touched only under the lock of the order's escrow."""

from typing import Final
from uuid import UUID

from common.database.decisions import Decisions, DecisionTable
from common.database.unit_of_work import UnitOfWork
from payments.domain.goodwill import Goodwill

_FIND: Final = """
SELECT id, prepared_by, order_id, buyer_id, amount_minor, reason, status FROM goodwill_refunds WHERE id = $1
"""
GOODWILL: Final = Decisions(DecisionTable("goodwill_refunds"), Goodwill, _FIND)
_SUM_GIVEN: Final = """
SELECT coalesce(sum(amount_minor), 0)::bigint FROM goodwill_refunds
WHERE order_id = $1 AND status = 'approved' AND id <> $2
"""
_IS_ERASED: Final = "SELECT EXISTS (SELECT FROM buyers WHERE user_id = $1 AND email = '')"


async def sum_given(uow: UnitOfWork, order_id: UUID, other_than: UUID) -> int:
    """Return the approved goodwill of an order, in kobo, without that of one id."""
    return int(await uow.fetch_value(_SUM_GIVEN, order_id, other_than))


async def is_erased(uow: UnitOfWork, buyer_id: UUID) -> bool:
    return bool(await uow.fetch_value(_IS_ERASED, buyer_id))
