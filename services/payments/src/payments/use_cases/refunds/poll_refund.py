"""Ask the gateway about a refund whose webhook has not come."""

from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from payments import store
from payments.clients.gateway import PaymentGateway
from payments.domain.refunds import check_refund, next_question_after
from payments.store import Attempt
from payments.use_cases.refunds.apply_refund_update import apply_refund_update
from payments.use_cases.refunds.query_attempt import query_attempt


async def poll_refund(database: Database, gateway: PaymentGateway, clock: Clock, refund_id: UUID) -> bool:
    """Whether the answer moved the refund. Raises GatewayAway, GatewayRefused and RefundContradiction."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        refund = await store.lock_refund(uow, refund_id)
        if refund is None or refund["due_at"] is None:
            return False
        # Written before the call: a gateway that does not answer is asked less often too.
        await store.save_refund_question(uow, refund_id, clock.now() + next_question_after(refund["questions"]))
    update = await query_attempt(gateway, Attempt.of(refund))
    if update is None:
        return False
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        locked = await store.lock_refund(uow, refund_id)
        if locked is None or locked["attempt_id"] != refund["attempt_id"]:
            return False
        check_refund(update, locked["amount_minor"], locked["currency"])
        return await apply_refund_update(uow, locked, update, clock.now(), is_answer=True)
