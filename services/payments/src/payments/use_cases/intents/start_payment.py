"""Start a payment: wait for the order if its event is under way, write the attempt down, open it at the gateway, record."""

import asyncio
from datetime import datetime
from typing import Final

import asyncpg

from common.auth.caller import Caller
from common.database.unit_of_work import Database
from common.observability.logging import get_logger
from common.primitives.clock import Clock
from common.primitives.problems import NotFound
from payments import store
from payments.clients.gateway import GatewayRefused, GatewayUnavailable, OpenedTransaction, PaymentGateway
from payments.domain.errors import OrderNotPayable, PaymentOpening
from payments.domain.failures import FIRST_QUERY_AFTER
from payments.use_cases.intents.prepare_intent import PaymentRequest, Prepared, prepare_intent

log = get_logger(__name__)

# 3 s in all (contract section 7): the order's event normally arrives within milliseconds.
WAIT_SECONDS: Final = 0.1
WAITS_MAX: Final = 30


async def start_payment(
    database: Database, gateway: PaymentGateway, clock: Clock, caller: Caller, asked: PaymentRequest
) -> asyncpg.Record:
    """The open intent. Raises NotFound, OrderNotPayable, PaymentOpening, IdempotencyKeyReused and GatewayAway (503)."""
    prepared = await _prepare(database, clock, caller, asked)
    if prepared.email is None:
        return prepared.intent
    try:
        opened = await _open(gateway, caller, prepared.intent, prepared.email)
    except GatewayUnavailable:
        # The reference may be known there by now. It is not used again; the intent waits for another try.
        async with database.unit_of_work(acting_as=caller) as uow:
            await store.save_unopened(uow, prepared.intent["id"], prepared.intent["reference"])
        raise
    return await _record(database, caller, prepared.intent, opened, clock.now() + FIRST_QUERY_AFTER)


async def _prepare(database: Database, clock: Clock, caller: Caller, asked: PaymentRequest) -> Prepared:
    """Foreign and absent orders take equally long to be refused (contract section 14.9)."""
    prepared = None
    for waits in range(WAITS_MAX + 1):
        async with database.unit_of_work(acting_as=caller) as uow:
            prepared = await prepare_intent(uow, asked, caller.id, clock.now())
        if prepared is not None and (prepared.is_answer or prepared.email is not None):
            return prepared
        if waits < WAITS_MAX:
            await asyncio.sleep(WAIT_SECONDS)
    if prepared is None:
        raise NotFound
    raise PaymentOpening(headers={"Retry-After": "3"})


async def _open(gateway: PaymentGateway, caller: Caller, intent: asyncpg.Record, email: str) -> OpenedTransaction:
    try:
        return await gateway.open_transaction(
            email=email,
            amount_minor=intent["amount_minor"],
            currency=intent["currency"],
            reference=intent["reference"],
            callback_url=intent["callback_url"],
            channel=intent["channel"],
            metadata={
                "userId": str(caller.id),
                "orderId": str(intent["order_id"]),
                "settlement": str(intent["amount_minor"]),
            },
        )
    except GatewayRefused as rejection:
        log.error("gateway refused to open a payment", reference=intent["reference"], error=str(rejection))
        raise GatewayUnavailable(str(rejection)) from rejection


async def _record(
    database: Database, caller: Caller, intent: asyncpg.Record, opened: OpenedTransaction, query_at: datetime
) -> asyncpg.Record:
    async with database.unit_of_work(acting_as=caller) as uow:
        await store.save_opened(
            uow, intent["id"], intent["reference"], opened.authorization_url, opened.access_code, query_at
        )
        recorded = await store.find_own_intent(uow, intent["id"], caller.id)
    if recorded is None or recorded["authorization_url"] is None:
        # The order was cancelled, expired or paid while the gateway was answering.
        raise OrderNotPayable
    return recorded
