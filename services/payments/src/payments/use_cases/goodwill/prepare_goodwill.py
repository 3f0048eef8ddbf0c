"""Prepare a goodwill refund."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from common.auth.caller import Caller
from common.database.idempotent_commands import IdempotentCommand, find_command_result, record_command_result
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from payments.domain.goodwill import Goodwill, GoodwillPending
from payments.store.goodwill import GOODWILL
from payments.use_cases.goodwill.steps import check_possible, lock_order


class PlannedGoodwill(NamedTuple):
    """A goodwill refund as its maker requests it. The amount in kobo."""

    order_id: UUID
    amount_minor: int
    reason: str


async def prepare_goodwill(
    uow: UnitOfWork,
    planned: PlannedGoodwill,
    order_max_minor: int,
    by: Caller,
    now: datetime,
    command: IdempotentCommand | None = None,
) -> UUID:
    """Return the id of the goodwill refund; no money moves before the approval.

    A repeated command returns the id of the first. Raises NotFound, OwnGoodwill (403), IdempotencyKeyReused (422),
    GoodwillPending, and the errors of `check_possible`.
    """
    held = await lock_order(uow, planned.order_id, by)
    if (earlier := await find_command_result(uow, command)) is not None:
        return earlier
    goodwill = Goodwill(new_id(), by.id, held.order_id, held.buyer_id, planned.amount_minor, planned.reason)
    await check_possible(uow, held, goodwill, order_max_minor)
    if not await GOODWILL.record_if_new(uow, goodwill, now):
        raise GoodwillPending
    await record_command_result(uow, command, goodwill.id)
    return goodwill.id
