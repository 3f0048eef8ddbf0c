"""Prepare a reissue of a delivery PIN beyond the buyer's limit."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.idempotent_commands import IdempotentCommand, find_command_result, record_command_result
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from orders.domain.pin_reissues import REISSUE_LIFE, PinReissue, PinReissuePending
from orders.store import orders
from orders.store.pins import PIN_REISSUES
from orders.use_cases.delivery.steps import lock_exhausted_pin
from orders.use_cases.disputes.steps import check_not_party


async def prepare_pin_reissue(
    uow: UnitOfWork,
    order_id: UUID,
    reason: str,
    *,
    by: Caller,
    now: datetime,
    command: IdempotentCommand | None = None,
) -> UUID:
    """Return the id of the reissue, which waits for another person. `reason` states how the buyer was identified.

    A repeated command returns the id of the first. Raises NotFound, PartyCannotDecide (403), IdempotencyKeyReused
    (422), PinReissuePending, and the errors of `lock_exhausted_pin`.
    """
    order = await orders.lock_order(uow, order_id)
    if order is None:
        raise NotFound
    check_not_party(by, order)
    if (earlier := await find_command_result(uow, command)) is not None:
        return earlier
    await lock_exhausted_pin(uow, order)
    await PIN_REISSUES.table.expire(uow, "order_id", order_id, now)
    reissue = PinReissue(new_id(), by.id, order_id, reason, now + REISSUE_LIFE)
    if not await PIN_REISSUES.record_if_new(uow, reissue, now):
        raise PinReissuePending
    await record_command_result(uow, command, reissue.id)
    return reissue.id
