"""Record a new attempt of a payout whose last one failed."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from common.auth.caller import THE_SERVICE, Caller
from common.database.idempotent_commands import IdempotentCommand, find_command_result, record_command_result
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from payouts.clients.gateway import Gateways
from payouts.domain.returns import check_reset, wait_before_retry
from payouts.store import returns
from payouts.use_cases.exceptions.steps import close_open_exception
from payouts.use_cases.transfers.steps import query_attempts


@dataclass(frozen=True, slots=True)
class ResetOrder:
    """The payout to reset, and why."""

    payout_id: UUID
    reason: str


async def reset_payout(
    database: Database,
    gateways: Gateways,
    clock: Clock,
    caller: Caller,
    order: ResetOrder,
    first_wait: timedelta,
    command: IdempotentCommand | None = None,
) -> None:
    """Reset a payout: it stays `pending` with one more retry. The worker sends the new attempt under a new reference,
    after the back-off.

    The gateway is queried first: a signed failure may be late, and a success must never be sent again. Attempt and
    count commit together: of two concurrent resets the second finds the first one's attempt. A repeated command changes
    nothing. Raises NotFound, IdempotencyKeyReused (422), GatewayUnavailable (503), and the errors of `check_reset`
    (409).
    """
    payout_id, reason = order.payout_id, order.reason
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        payout = await returns.lock_payout_with_attempts(uow, payout_id)
        if payout is None:
            raise NotFound
        if await find_command_result(uow, command) is not None:
            return
    await query_attempts(database, gateways, clock, payout_id)
    now = clock.now()
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        payout = await returns.lock_payout_with_attempts(uow, payout_id)
        if payout is None:
            raise AssertionError("a payout is never removed")
        check_reset(payout)
        due_at = now + wait_before_retry(payout.retry_count + 1, first_wait)
        retry = returns.Retry(new_id(), f"po-{new_id().hex}", gateways.for_new_transfers, due_at)
        await returns.save_reset(uow, payout_id, retry, reason, now)
        await returns.record_payout_action(uow, payout_id, None, "reset", caller.id, reason, now)
        await record_command_result(uow, command, payout_id)
        await close_open_exception(uow, payout_id, f"Reset: {reason}", now, by=caller.id)
