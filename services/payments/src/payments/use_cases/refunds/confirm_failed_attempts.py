"""Confirm at the gateway that the earlier attempts of a refund failed, so that never two can pay."""

from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from payments.clients.gateway import Gateways
from payments.domain.errors import RefundOutcomeUnknown
from payments.store import refund_attempts, refunds
from payments.store.refund_attempts import RefundAttempt
from payments.use_cases.refunds.query_attempt import query_attempt
from payments.use_cases.refunds.record_replaced_attempt import record_replaced_attempt
from payments.use_cases.refunds.record_transfer_fee import record_transfer_fee


async def confirm_failed_attempts(database: Database, gateways: Gateways, clock: Clock, refund_id: UUID) -> None:
    """Safe to repeat. An attempt that paid after all settles the refund.

    Raises RefundOutcomeUnknown while one is in progress, GatewayUnavailable and RefundContradiction.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        unconfirmed = await refund_attempts.list_unconfirmed_attempts(uow, refund_id)
    for attempt in unconfirmed:
        await _confirm(database, gateways, clock, refund_id, attempt)


async def _confirm(
    database: Database, gateways: Gateways, clock: Clock, refund_id: UUID, attempt: RefundAttempt
) -> None:
    update = await query_attempt(gateways.of(attempt.gateway), attempt)
    if update is None and attempt.gateway_refund_id is not None:
        raise RefundOutcomeUnknown(f"the gateway no longer returns its refund {attempt.gateway_refund_id}")
    if update is not None and update.status not in ("processed", "failed", "reversed"):
        raise RefundOutcomeUnknown("the previous attempt is still in progress at the gateway")
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        refund = await refunds.lock_refund(uow, refund_id)
        if update is not None:
            await record_transfer_fee(uow, attempt.id, update, is_queried=True)
        # Its webhook may have settled the refund since the list was read.
        is_replaced = refund is not None and refund.attempt_id != attempt.id
        if refund is not None and is_replaced and update is not None and update.status == "processed":
            await record_replaced_attempt(uow, refund, attempt.id, update, clock.now())
        await refund_attempts.save_attempt_confirmed(uow, attempt.id, clock.now())
