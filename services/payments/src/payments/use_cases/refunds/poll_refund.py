"""Poll the gateway for a refund whose webhook has not arrived."""

from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from payments.clients.gateway import Gateways
from payments.domain.refunds import check_refund, next_poll_after
from payments.store import refunds
from payments.use_cases.outside_refunds.steps import apply_outside_update
from payments.use_cases.refunds.apply_refund_update import apply_refund_update
from payments.use_cases.refunds.query_attempt import query_attempt


async def poll_refund(database: Database, gateways: Gateways, clock: Clock, refund_id: UUID) -> bool:
    """Return whether the response changed the refund. Raises GatewayUnavailable, GatewayRejected and
    RefundContradiction.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        refund = await refunds.lock_refund(uow, refund_id)
        if refund is None or refund.due_at is None:
            return False
        # Recorded before the call, so that the delays grow also while the gateway is unavailable.
        await refunds.save_refund_poll(uow, refund_id, clock.now() + next_poll_after(refund.polls))
    update = await query_attempt(gateways.of(refund.attempt.gateway), refund.attempt)
    if update is None:
        return False
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        locked = await refunds.lock_refund(uow, refund_id)
        if locked is None or locked.attempt_id != refund.attempt_id:
            return False
        check_refund(update, locked.amount_minor, locked.currency)
        if locked.kind == "outside":
            return await apply_outside_update(uow, locked, update, clock.now())
        return await apply_refund_update(uow, locked, update, clock.now(), is_polled=True)
