"""Send a refund to the gateway: decide and commit, call, record. What a lost call did is found out by asking."""

from dataclasses import replace
from uuid import UUID

import asyncpg

from common.caller import THE_SERVICE
from common.clock import Clock
from common.database import Database
from payments import store
from payments.clients.gateway import GatewayRefused, PaymentGateway
from payments.domain.accounts import NO_CURRENCY
from payments.domain.errors import RefundOutcomeUnknown
from payments.domain.identifiers import refund_reference
from payments.domain.refunds import RESUBMIT_AFTER, RefundNews, read_refund, read_refund_transfer
from payments.store import Attempt
from payments.use_cases.confirm_failed_attempts import confirm_failed_attempts
from payments.use_cases.fail_refund import fail_refund
from payments.use_cases.find_attempt_at_gateway import find_attempt_at_gateway
from payments.use_cases.record_refund_news import record_refund_news
from payments.use_cases.spare_refund import spare_refund


async def submit_refund(database: Database, gateway: PaymentGateway, clock: Clock, refund_id: UUID) -> None:
    """Safe to repeat. Raises GatewayAway and RefundOutcomeUnknown, which climb the retry ladder, and RefundContradiction."""
    await confirm_failed_attempts(database, gateway, clock, refund_id)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        refund = await store.lock_refund(uow, refund_id)
        if refund is None:
            raise LookupError("a work item without its refund: they are written in one commit")
        if refund["status"] not in ("pending", "submitting"):
            return
        if refund["status"] == "pending":
            if await spare_refund(uow, refund, clock.now()):
                return
            refund = await store.lock_refund(uow, refund_id) or refund
            await store.save_refund_submitting(uow, refund_id, clock.now())
    attempt, news = Attempt.of(refund), None
    if refund["status"] == "submitting":
        news = await find_attempt_at_gateway(gateway, attempt)
        if news is None and clock.now() - refund["submitted_at"] < RESUBMIT_AFTER:
            raise RefundOutcomeUnknown("an unanswered call may still be at work at the gateway")
    try:
        news = news or await _send(gateway, refund, attempt)
    except GatewayRefused as refusal:
        # What it refuses may be a repetition: our own call of before may have come through meanwhile.
        news = await find_attempt_at_gateway(gateway, attempt)
        if news is None:
            await _record_refusal(database, attempt, refund_id, str(refusal))
            return
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await record_refund_news(uow, replace(news, note=refund_reference(attempt.id)), clock.now())


async def _send(gateway: PaymentGateway, refund: asyncpg.Record, attempt: Attempt) -> RefundNews:
    amount_minor: int = refund["amount_minor"]
    reference = refund_reference(attempt.id)
    if attempt.recipient_code is not None:
        return read_refund_transfer(
            await gateway.start_transfer(
                reference=reference, recipient_code=attempt.recipient_code, amount_minor=amount_minor
            )
        )
    return read_refund(
        await gateway.start_refund(
            transaction=attempt.transaction,
            amount_minor=amount_minor,
            currency=None if refund["currency"] == NO_CURRENCY else refund["currency"],
            note=reference,
        )
    )


async def _record_refusal(database: Database, attempt: Attempt, refund_id: UUID, refusal: str) -> None:
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        refund = await store.lock_refund(uow, refund_id)
        if refund is not None and refund["attempt_id"] == attempt.id and refund["status"] == "submitting":
            await fail_refund(uow, refund, refusal, None)
