"""Ask the gateway about a refund whose webhook has not come."""

from uuid import UUID

from common.caller import THE_SERVICE
from common.clock import Clock
from common.database import Database
from payments import store
from payments.clients.gateway import PaymentGateway
from payments.domain.refunds import check_refund, next_question_after
from payments.store import Attempt
from payments.use_cases.apply_refund_news import apply_refund_news
from payments.use_cases.find_attempt_at_gateway import find_attempt_at_gateway


async def ask_about_refund(database: Database, gateway: PaymentGateway, clock: Clock, refund_id: UUID) -> bool:
    """Whether the answer moved the refund. Raises GatewayAway, GatewayRefused and RefundContradiction."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        refund = await store.lock_refund(uow, refund_id)
        if refund is None or refund["due_at"] is None:
            return False
        # Written before the call: a gateway that does not answer is asked less often too.
        await store.save_refund_question(uow, refund_id, clock.now() + next_question_after(refund["questions"]))
    news = await find_attempt_at_gateway(gateway, Attempt.of(refund))
    if news is None:
        return False
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        locked = await store.lock_refund(uow, refund_id)
        if locked is None or locked["attempt_id"] != refund["attempt_id"]:
            return False
        check_refund(news, locked["amount_minor"], locked["currency"])
        return await apply_refund_news(uow, locked, news, clock.now(), is_answer=True)
