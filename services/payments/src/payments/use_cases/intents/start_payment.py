"""Start a payment: wait for the order's event, record the attempt, open it at the gateway, record the result."""

import asyncio
from datetime import datetime
from typing import Final

from common.auth.caller import Caller
from common.database.unit_of_work import Database
from common.observability.logging import get_logger
from common.primitives.clock import Clock
from common.primitives.problems import NotFound
from payments.clients.gateway import (
    GatewayRejected,
    Gateways,
    GatewayUnavailable,
    OpenedTransaction,
    PaymentGateway,
)
from payments.domain.errors import OrderNotPayable, PaymentOpening, PaymentRejected
from payments.domain.failures import FIRST_QUERY_AFTER, safe_reason
from payments.domain.gateways import GatewayName
from payments.store import intents
from payments.store.intents import Intent
from payments.use_cases.intents.prepare_intent import PaymentRequest, Prepared, prepare_intent

log = get_logger(__name__)

# 3 s in all (contract section 7). The order's event normally arrives within milliseconds, so the first waits are short.
WAITS_SECONDS: Final = (0.01, 0.02, 0.04, 0.08, *[0.15] * 19)


async def start_payment(
    database: Database, gateways: Gateways, clock: Clock, caller: Caller, request: PaymentRequest
) -> Intent:
    """Return the open intent. Raises NotFound, OrderNotPayable, PaymentOpening, IdempotencyKeyReused, PaymentRejected
    (422) and GatewayUnavailable (503).
    """
    prepared = await _prepare(database, clock, caller, request, gateways.for_new_payments)
    if prepared.email is None:
        return prepared.intent
    try:
        opened = await _open(gateways.of(prepared.intent.gateway), caller, prepared.intent, prepared.email)
    except (GatewayUnavailable, PaymentRejected):
        # The gateway may have recorded the reference: the intent's next try uses a new one.
        async with database.unit_of_work(acting_as=caller) as uow:
            await intents.save_unopened(uow, prepared.intent.id, prepared.intent.reference)
        raise
    return await _record(database, caller, prepared.intent, opened, clock.now() + FIRST_QUERY_AFTER)


async def _prepare(
    database: Database, clock: Clock, caller: Caller, request: PaymentRequest, gateway: GatewayName
) -> Prepared:
    """Foreign and absent orders are rejected after the same time (contract section 14.9)."""
    prepared = None
    for wait_seconds in (0.0, *WAITS_SECONDS):
        await asyncio.sleep(wait_seconds)
        async with database.unit_of_work(acting_as=caller) as uow:
            prepared = await prepare_intent(uow, request, caller.id, clock.now(), gateway)
        if isinstance(prepared, Prepared):
            return prepared
    if prepared is None:
        raise NotFound
    raise PaymentOpening(headers={"Retry-After": "3"})


async def _open(gateway: PaymentGateway, caller: Caller, intent: Intent, email: str) -> OpenedTransaction:
    try:
        return await gateway.open_transaction(
            email=email,
            amount_minor=intent.amount_minor,
            currency=intent.currency,
            reference=intent.reference,
            callback_url=intent.callback_url,
            channel=intent.channel,
            metadata={
                "userId": str(caller.id),
                "orderId": str(intent.order_id),
                "settlement": str(intent.amount_minor),
            },
        )
    except GatewayRejected as rejection:
        log.warning("gateway rejected a new payment", reference=intent.reference, error=str(rejection))
        raise PaymentRejected(safe_reason(rejection.message)) from rejection


async def _record(
    database: Database, caller: Caller, intent: Intent, opened: OpenedTransaction, query_at: datetime
) -> Intent:
    # A crash of the database that loses this commit equals a crash before it: the reference is committed, so that its
    # charge is settled, and the next request opens the payment again.
    async with database.unit_of_work(acting_as=caller, async_commit=True) as uow:
        recorded = await intents.save_opened(
            uow, intent.id, intent.reference, opened.authorization_url, opened.access_code, query_at
        ) or await intents.find_own_intent(uow, intent.id, caller.id)
    if recorded is None or recorded.authorization_url is None:
        # The order was cancelled, expired or paid during the call.
        raise OrderNotPayable
    return recorded
