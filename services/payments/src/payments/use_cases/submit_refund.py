"""Send a refund to the gateway: decide and commit, call, record. What a lost call did is found out by asking."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from common.caller import THE_SERVICE
from common.clock import Clock
from common.database import Database
from payments import store
from payments.clients.gateway import GatewayRefused, PaymentGateway
from payments.domain.errors import RefundOutcomeUnknown
from payments.domain.identifiers import refund_reference
from payments.domain.refunds import RESUBMIT_AFTER, check_refund, read_refund
from payments.use_cases.apply_refund_news import apply_refund_news
from payments.use_cases.fail_refund import fail_refund


async def submit_refund(database: Database, gateway: PaymentGateway, clock: Clock, refund_id: UUID) -> None:
    """Safe to repeat. Raises GatewayAway and RefundOutcomeUnknown, which climb the retry ladder."""
    refund = await _decide(database, refund_id, clock.now())
    if refund is None:
        return
    told = None
    if refund["status"] == "submitting":
        told = await _ask(gateway, refund)
        if told is None and clock.now() - refund["submitted_at"] < RESUBMIT_AFTER:
            raise RefundOutcomeUnknown("an unanswered call may still be at work at the gateway")
    try:
        if told is None:
            told = await gateway.start_refund(
                transaction=_transaction_of(refund),
                amount_minor=refund["amount_minor"],
                currency=refund["currency"],
                note=refund_reference(refund_id),
            )
    except GatewayRefused as refusal:
        await _record_refusal(database, refund_id, str(refusal))
        return
    await _record(database, refund_id, told, clock.now())


async def _decide(database: Database, refund_id: UUID, now: datetime) -> asyncpg.Record | None:
    """The refund as it stood, now written down as being sent; None when there is nothing to send."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        refund = await store.lock_refund(uow, refund_id)
        if refund is None:
            raise LookupError("a work item without its refund: they are written in one commit")
        if refund["status"] == "pending":
            await store.save_refund_submitting(uow, refund_id, now)
        return refund if refund["status"] in ("pending", "submitting") else None


async def _ask(gateway: PaymentGateway, refund: asyncpg.Record) -> Mapping[str, Any] | None:
    """Our refund in the gateway's list of this transaction, by our note."""
    note = refund_reference(refund["id"])
    listed = await gateway.list_refunds(_transaction_of(refund))
    return next((entry for entry in listed if entry.get("merchant_note") == note), None)


async def _record(database: Database, refund_id: UUID, told: Mapping[str, Any], now: datetime) -> None:
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        refund = await store.lock_refund(uow, refund_id)
        if refund is not None:
            news = read_refund(told)
            check_refund(news, refund["amount_minor"], refund["currency"])
            await apply_refund_news(uow, refund, news, now)


async def _record_refusal(database: Database, refund_id: UUID, refusal: str) -> None:
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        refund = await store.lock_refund(uow, refund_id)
        if refund is not None and refund["status"] == "submitting":
            await fail_refund(uow, refund, refusal, None)


def _transaction_of(refund: asyncpg.Record) -> str:
    """The gateway's own id tells apart two charges under one reference."""
    gateway_id: str | None = refund["gateway_id"]
    reference: str = refund["reference"]
    return gateway_id if gateway_id is not None and gateway_id.isdigit() else reference
