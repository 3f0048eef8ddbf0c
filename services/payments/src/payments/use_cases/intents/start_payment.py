"""Start a payment: wait for the events of its orders, record the attempt, open it at the gateway, record the result."""

import asyncio
from datetime import datetime
from functools import partial
from typing import Final

from common.auth.caller import THE_SERVICE, Caller
from common.database.single_statements import commit_alone
from common.database.unit_of_work import Database
from common.observability.logging import get_logger
from common.primitives.clock import Clock
from common.primitives.problems import NotFound
from common.primitives.waiting import Wakeups, is_woken_before
from payments.clients.gateway import (
    GatewayRejected,
    Gateways,
    GatewayUnavailable,
    OpenedTransaction,
    PaymentGateway,
)
from payments.domain.bank_transfers import BANK_TRANSFER, TransferAccount
from payments.domain.errors import OrderNotPayable, PaymentOpening, PaymentRejected
from payments.domain.failures import FIRST_QUERY_AFTER, safe_reason
from payments.store import intents
from payments.store.intents import Intent
from payments.use_cases.intents.prepare_intent import HoldsToReturn, PaymentRequest, Prepared, prepare_intent
from payments.use_cases.intents.renew_reference import renew_reference
from providers.gateways import GatewayName

log = get_logger(__name__)

# 3 s in all (contract section 7). The order's event normally arrives within milliseconds. A process that handles it
# wakes those who wait; the polls are for the others, and the first ones are short.
WAITS_SECONDS: Final = (0.01, 0.02, 0.04, 0.08, *[0.15] * 19)


async def start_payment(
    database: Database, gateways: Gateways, clock: Clock, caller: Caller, request: PaymentRequest, placed: Wakeups
) -> Intent:
    """Return the open intent, or one that the balance has paid. `placed` wakes a buyer whose order arrives.

    Raises NotFound, OrderNotPayable, PurchaseNotPaidWhole, PaymentOpening and BalanceTooLow (409),
    IdempotencyKeyReused, BalanceAboveDue and PaymentRejected (422), and GatewayUnavailable (503).
    """
    prepared = await _prepare(database, clock, caller, request, gateways.for_new_payments, placed)
    intent, account = prepared.intent, None
    if prepared.email is None:
        return intent
    gateway = gateways.of(intent.gateway)
    try:
        if prepared.may_be_charged:
            account = await gateway.find_transfer_account(intent.reference)
            if account is None:
                async with database.unit_of_work(acting_as=caller) as uow:
                    intent = await renew_reference(uow, intent, caller.id, clock.now())
        page, charge = await asyncio.gather(
            _open_page(gateway, caller, prepared),
            _open_account(gateway, caller, intent, prepared.email, account, clock.now()),
            return_exceptions=True,
        )
        if isinstance(page, BaseException):
            raise page
        if isinstance(charge, BaseException):
            raise charge
    except (GatewayUnavailable, PaymentRejected):
        # The gateway may have recorded the reference: the intent's next try uses a new one, or queries its account.
        async with database.unit_of_work(acting_as=caller) as uow:
            await intents.save_unopened(uow, intent.id, intent.reference)
        raise
    return await _record(database, caller, intent, page, charge, clock.now() + FIRST_QUERY_AFTER)


async def _prepare(
    database: Database,
    clock: Clock,
    caller: Caller,
    request: PaymentRequest,
    gateway: GatewayName,
    placed: Wakeups,
) -> Prepared:
    """Foreign and absent orders are rejected after the same time (contract section 14.9)."""
    prepared = None
    as_service = request.balance_minor is not None
    end_at = asyncio.get_running_loop().time()
    with placed.waiting_for(caller.id) as arrived:
        for wait_seconds in (0.0, *WAITS_SECONDS):
            end_at += wait_seconds
            is_woken = True
            while is_woken:
                is_woken = await is_woken_before(arrived, end_at)
                try:
                    async with database.unit_of_work(acting_as=THE_SERVICE if as_service else caller) as uow:
                        prepared = await prepare_intent(
                            uow, request, caller.id, clock.now(), gateway, as_service=as_service
                        )
                except HoldsToReturn:
                    as_service = True
                    continue
                if isinstance(prepared, Prepared):
                    return prepared
    if prepared is None:
        raise NotFound
    raise PaymentOpening(headers={"Retry-After": "3"})


async def _open_page(gateway: PaymentGateway, caller: Caller, prepared: Prepared) -> OpenedTransaction:
    intent = prepared.intent
    try:
        return await gateway.open_transaction(
            email=prepared.email or "",
            amount_minor=intent.gateway_minor,
            currency=intent.currency,
            reference=prepared.page_reference or intent.reference,
            callback_url=intent.callback_url,
            channel=intent.channel,
            metadata=_metadata(caller, intent),
        )
    except GatewayRejected as rejection:
        log.warning("gateway rejected a new payment", reference=intent.reference, error=str(rejection))
        raise PaymentRejected(safe_reason(rejection.message)) from rejection


async def _open_account(
    gateway: PaymentGateway, caller: Caller, intent: Intent, email: str, found: TransferAccount | None, now: datetime
) -> TransferAccount | None:
    """Return the account for a bank transfer, charged once; None for another channel, and where the gateway gives
    none.
    """
    if intent.channel != BANK_TRANSFER or found is not None:
        return found
    try:
        return await gateway.charge_bank_transfer(
            email=email,
            amount_minor=intent.gateway_minor,
            reference=intent.reference,
            now=now,
            expires_at=intent.expires_at,
            metadata=_metadata(caller, intent),
        )
    except GatewayRejected as rejection:
        log.warning("gateway gave no account for a transfer", reference=intent.reference, error=str(rejection))
        return None


def _metadata(caller: Caller, intent: Intent) -> dict[str, str]:
    """Return what the gateway repeats with the charge."""
    purchase = {} if intent.purchase_id is None else {"purchaseId": str(intent.purchase_id)}
    order = {"userId": str(caller.id), "orderId": str(intent.order_id), "settlement": str(intent.gateway_minor)}
    return {**order, **purchase}


async def _record(
    database: Database,
    caller: Caller,
    intent: Intent,
    page: OpenedTransaction,
    account: TransferAccount | None,
    query_at: datetime,
) -> Intent:
    opened = (page.authorization_url, page.access_code, query_at, account)
    # The caller owns the intent, which their request has just read or recorded.
    recorded = await intents.save_opened(partial(commit_alone, database), intent.id, intent.reference, *opened)
    if recorded is None:
        async with database.unit_of_work(acting_as=caller) as uow:
            recorded = await intents.find_own_intent(uow, intent.id, caller.id)
    if recorded is None or recorded.authorization_url is None:
        # The order was cancelled, expired or paid during the call.
        raise OrderNotPayable
    return recorded
