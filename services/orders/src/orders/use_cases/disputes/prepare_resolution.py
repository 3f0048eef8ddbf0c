"""Prepare a resolution of a dispute."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.idempotent_commands import IdempotentCommand, find_command_result, record_command_result
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.lifecycles import Rejection
from common.primitives.problems import NotFound
from orders.domain.disputes import ProposedResolution, Resolution, refund_of, trigger_of
from orders.domain.errors import ForbiddenTransition, ResolutionPending
from orders.domain.transitions import next_state
from orders.store import disputes, orders, refunds
from orders.use_cases.disputes.steps import check_not_party


async def prepare_resolution(
    uow: UnitOfWork,
    order_id: UUID,
    proposed: ProposedResolution,
    *,
    by: Caller,
    now: datetime,
    command: IdempotentCommand | None = None,
) -> Resolution:
    """Prepare the proposed resolution; another member of staff decides on it.

    A repeated command returns the resolution of the first. Raises NotFound, PartyCannotDecide (403), the errors of
    `refund_of` and IdempotencyKeyReused (422), ForbiddenTransition and ResolutionPending (409).
    """
    order = await orders.lock_order(uow, order_id)
    if order is None:
        raise NotFound
    check_not_party(by, order)
    earlier = await find_command_result(uow, command)
    if earlier is not None and (prepared := await disputes.find_resolution(uow, earlier)) is not None:
        return prepared
    is_forbidden = isinstance(next_state(order.status, trigger_of(proposed.outcome)), Rejection)
    # Of a disputed order, only cancelled lines were refunded.
    refunded_minor = 0 if is_forbidden else await refunds.sum_requested(uow, order.id)
    refund = refund_of(proposed.outcome, proposed.refund_minor, order.total_minor - refunded_minor)
    if is_forbidden:
        raise ForbiddenTransition(order.status)
    resolution = Resolution(new_id(), order.id, proposed.outcome, refund, "prepared", by.id, proposed.reason)
    if not await disputes.record_resolution_if_new(uow, resolution, now):
        raise ResolutionPending
    await record_command_result(uow, command, resolution.id)
    return resolution
