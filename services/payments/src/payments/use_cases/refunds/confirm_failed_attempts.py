"""Make sure that the attempts before the present one are dead at the gateway: never two that may both pay."""

from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from payments import store
from payments.clients.gateway import PaymentGateway
from payments.domain.errors import RefundOutcomeUnknown
from payments.store import Attempt
from payments.use_cases.refunds.query_attempt import query_attempt
from payments.use_cases.refunds.record_replaced_attempt import record_replaced_attempt


async def confirm_failed_attempts(database: Database, gateway: PaymentGateway, clock: Clock, refund_id: UUID) -> None:
    """Safe to repeat. One that paid after all settles the refund. Raises RefundOutcomeUnknown while one is under way,
    GatewayAway and RefundContradiction."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        unconfirmed = await store.list_unconfirmed_attempts(uow, refund_id)
    for attempt in unconfirmed:
        await _confirm(database, gateway, clock, refund_id, attempt)


async def _confirm(
    database: Database, gateway: PaymentGateway, clock: Clock, refund_id: UUID, attempt: Attempt
) -> None:
    update = await query_attempt(gateway, attempt)
    if update is None and attempt.gateway_refund_id is not None:
        raise RefundOutcomeUnknown("the gateway has forgotten an attempt that it had told of")
    if update is not None and update.status not in ("processed", "failed", "reversed"):
        raise RefundOutcomeUnknown("the attempt before this one is still under way at the gateway")
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        refund = await store.lock_refund(uow, refund_id)
        if refund is not None and update is not None and update.status == "processed":
            await record_replaced_attempt(uow, refund, attempt.id, update, clock.now())
        await store.save_attempt_confirmed(uow, attempt.id, clock.now())
