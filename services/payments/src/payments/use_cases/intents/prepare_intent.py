"""Prepare a payment: find or record the intent and its reference before the call to the gateway
(contract section 7).
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from common.database.idempotent_commands import IdempotentCommand
from common.database.unit_of_work import UnitOfWork
from common.primitives.idempotency import IdempotencyKeyReused
from common.primitives.ids import new_id
from payments.domain.bank_transfers import BANK_TRANSFER
from payments.domain.charges import CoveringPayment
from payments.domain.errors import BalanceAboveDue, OrderNotPayable, PaymentOpening, PurchaseNotPaidWhole
from payments.domain.identifiers import charge_reference
from payments.store import balances, charges, closed_intents, intents
from payments.store.closed_intents import ClosedIntent
from payments.store.intents import BoundKey, Intent, OrderToPay, Requested
from payments.use_cases.balances.hold_balance import hold_balance
from payments.use_cases.balances.return_hold import return_hold
from payments.use_cases.balances.spend_hold import spend_hold
from payments.use_cases.escrow.steps import hold_escrow
from providers.gateways import GatewayName

# Longer than a call to the gateway: a process that still has the lease then has died, and the next one uses a new
# reference.
OPENING_LEASE: Final = timedelta(seconds=15)


@dataclass(frozen=True, slots=True)
class PaymentRequest:
    """A buyer's request for a payment of an order or of a purchase, under their idempotency key.

    `balance_minor` is the part from the buyer's balance, in kobo; None asks nothing about it.
    """

    order_id: UUID | None
    channel: str | None
    callback_url: str | None
    idempotency_key: UUID
    purchase_id: UUID | None = None
    balance_minor: int | None = None

    @property
    def fingerprint(self) -> bytes:
        """Differs for two contents under one key."""
        subject = str(self.order_id) if self.purchase_id is None else f"purchase:{self.purchase_id}"
        balance = [] if self.balance_minor is None else [self.balance_minor]
        content = json.dumps([subject, self.channel, self.callback_url, *balance])
        return hashlib.sha256(content.encode()).digest()

    def command_of(self, buyer_id: UUID) -> IdempotentCommand:
        return IdempotentCommand(buyer_id, self.idempotency_key, self.fingerprint)


@dataclass(frozen=True, slots=True)
class Prepared:
    """The intent of the key: open, or to be opened by this caller at the gateway with `email`.

    The payment page of a bank transfer is opened under `page_reference`, and its account under the intent's own. An
    earlier call under that one `may_be_charged`: its response is not known.
    """

    intent: Intent
    email: str | None = None
    page_reference: str | None = None
    may_be_charged: bool = False


@dataclass(frozen=True, slots=True)
class Waiting:
    """Another caller opens the payment, the buyer's profile with the address has not arrived yet, or an intent was
    closed.
    """


class HoldsToReturn(Exception):
    """A closed payment holds a part of the balance, which only the service may return: the step is repeated as the
    service.
    """


async def prepare_intent(
    uow: UnitOfWork,
    request: PaymentRequest,
    buyer_id: UUID,
    now: datetime,
    gateway: GatewayName,
    *,
    as_service: bool,
) -> Prepared | Waiting | None:
    """Return the intent to return or to open at this gateway; None for an order or purchase that is unknown or
    another buyer's. One that the balance pays alone is paid at once. A request about the balance runs `as_service`.

    Raises OrderNotPayable, PurchaseNotPaidWhole and BalanceTooLow (409), IdempotencyKeyReused and BalanceAboveDue
    (422), and HoldsToReturn.
    """
    requested = await intents.find_requested(
        uow, request.order_id, request.purchase_id, buyer_id, request.idempotency_key
    )
    intent = await _bound_intent(uow, request, buyer_id, requested.bound)
    if intent is None:
        if not requested.orders:
            return None
        orders = await _unpaid_orders(uow, request, requested, buyer_id, now, as_service=as_service)
        if orders is None or await _replace_live_intent(uow, request, orders, buyer_id, now, as_service=as_service):
            return Waiting()
        if requested.email and (new := await _record_intent(uow, request, orders, buyer_id, now, gateway)):
            return await _prepare_new(uow, new, requested.email, buyer_id, now)
        intent = await _bind_to_live_intent(uow, request, orders[0].id, buyer_id, now)
        if intent is None:
            # The profile is missing, or an order ended between the two statements: the orders are read again.
            return Waiting()
    if intent.status == "closed" and intent.authorization_url is None:
        raise OrderNotPayable
    if intent.status != "opening":
        return Prepared(intent)
    return await _claim(uow, intent, buyer_id, now, gateway)


async def _unpaid_orders(
    uow: UnitOfWork, request: PaymentRequest, requested: Requested, buyer_id: UUID, now: datetime, *, as_service: bool
) -> Sequence[OrderToPay] | None:
    """Return the orders to pay, at least one; None while an event of their purchase is under way, and after the close
    of an outdated intent.

    Raises OrderNotPayable, and PurchaseNotPaidWhole for one of several unpaid orders of a purchase.
    """
    listed = requested.orders
    purchase_id = request.purchase_id or (listed[0].purchase_id if listed[0] is not None else None)
    if purchase_id is not None and request.purchase_id is None:
        purchase = await intents.find_requested(uow, None, purchase_id, buyer_id, request.idempotency_key)
        listed = purchase.orders
    orders = [order for order in listed if order is not None]
    if not orders or len(orders) < len(listed):
        return None
    unpaid = [order for order in orders if order.status == "Processing" and order.payment_due_at > now]
    if request.order_id is not None:
        if len(unpaid) > 1 and purchase_id is not None:
            raise PurchaseNotPaidWhole(purchase_id)
        unpaid = [order for order in unpaid if order.id == request.order_id]
    if not unpaid:
        raise OrderNotPayable
    # The lock of orders comes before that of intents and balances, as for a charge.
    if as_service and await closed_intents.lock_unpaid_orders(uow, [order.id for order in unpaid]) < len(unpaid):
        raise OrderNotPayable
    if purchase_id is not None:
        amount_minor = sum(order.total_minor for order in unpaid)
        closed = await closed_intents.close_outdated_intents(uow, purchase_id, buyer_id, amount_minor)
        if await _return_holds(uow, closed, now, as_service=as_service):
            return None
    return unpaid


async def _replace_live_intent(
    uow: UnitOfWork,
    request: PaymentRequest,
    orders: Sequence[OrderToPay],
    buyer_id: UUID,
    now: datetime,
    *,
    as_service: bool,
) -> bool:
    """Close the live payment that takes another part from the balance, or has no account for a bank transfer.

    Return whether the unit of work ends after that. Raises BalanceAboveDue (422) and HoldsToReturn.
    """
    first_id = orders[0].id
    if request.balance_minor is not None:
        due_minor = sum(order.total_minor for order in orders)
        if request.balance_minor > due_minor:
            raise BalanceAboveDue(due_minor)
        other = await closed_intents.close_intents_of_other_balance(uow, first_id, buyer_id, request.balance_minor)
        await _return_holds(uow, other, now, as_service=as_service)
    if request.channel != BANK_TRANSFER:
        return False
    replaced = await closed_intents.close_replaced_intents(uow, first_id, buyer_id, now)
    return await _return_holds(uow, replaced, now, as_service=as_service)


async def _prepare_new(uow: UnitOfWork, intent: Intent, email: str, buyer_id: UUID, now: datetime) -> Prepared:
    """Return the recorded intent to be opened, or paid where the balance pays all of it."""
    if not intent.gateway_minor:
        return await _pay_from_balance(uow, intent, now)
    return Prepared(intent, email, await _record_page_reference(uow, intent, buyer_id, now))


async def _return_holds(uow: UnitOfWork, closed: Sequence[ClosedIntent], now: datetime, *, as_service: bool) -> bool:
    """Return whether any intent was closed. Raises HoldsToReturn where one has a part of the balance."""
    for intent in closed:
        if intent.balance_minor and not as_service:
            raise HoldsToReturn
        if intent.balance_minor:
            await return_hold(uow, intent.id, now)
    return bool(closed)


async def _pay_from_balance(uow: UnitOfWork, intent: Intent, now: datetime) -> Prepared:
    """Hold the escrow of every order of an intent that the balance pays alone."""
    payable = await charges.lock_payable_orders(uow, intent.reference)
    hold = await balances.lock_hold(uow, intent.id)
    if payable is None or hold is None:
        raise LookupError(f"intent {intent.id} has no hold")
    shares = await spend_hold(uow, hold, intent.balance_minor, payable.unpaid_totals_minor, now)
    payment = CoveringPayment(intent.reference, shares=shares)
    await hold_escrow(uow, None, payable, payment, None, now)
    return Prepared(intent._replace(status="paid"))


async def _bound_intent(
    uow: UnitOfWork, request: PaymentRequest, buyer_id: UUID, bound: BoundKey | None
) -> Intent | None:
    if bound is None:
        return None
    if bound.fingerprint != request.fingerprint:
        raise IdempotencyKeyReused
    return await intents.find_own_intent(uow, bound.intent_id, buyer_id)


async def _record_intent(
    uow: UnitOfWork,
    request: PaymentRequest,
    orders: Sequence[OrderToPay],
    buyer_id: UUID,
    now: datetime,
    gateway: GatewayName,
) -> Intent | None:
    first = orders[0]
    new = Intent(
        id=new_id(),
        order_id=first.id,
        reference=charge_reference(new_id()),
        amount_minor=sum(order.total_minor for order in orders),
        currency=first.currency,
        status="opening",
        channel=request.channel,
        callback_url=request.callback_url,
        authorization_url=None,
        access_code=None,
        expires_at=min(order.payment_due_at for order in orders),
        gateway=gateway,
        purchase_id=first.purchase_id,
        balance_minor=request.balance_minor or 0,
    )
    until = now + OPENING_LEASE
    command = request.command_of(buyer_id)
    recorded = await intents.record_claimed_intent_if_new(uow, new, orders, command, until, now)
    if recorded is not None and recorded.balance_minor:
        await hold_balance(uow, recorded.id, recorded.order_id, buyer_id, recorded.balance_minor, now)
    return recorded


async def _bind_to_live_intent(
    uow: UnitOfWork, request: PaymentRequest, order_id: UUID, buyer_id: UUID, now: datetime
) -> Intent | None:
    live = await intents.find_live_intent(uow, order_id, buyer_id)
    if live is not None and request.balance_minor not in (None, live.balance_minor):
        # A concurrent request has opened it.
        raise PaymentOpening(headers={"Retry-After": "3"})
    key = request.idempotency_key
    if live is None or await intents.bind_key_if_new(uow, buyer_id, key, request.fingerprint, live.id, now):
        return live
    # A concurrent request has bound the key; another content is rejected here.
    concurrent = await intents.find_requested(uow, order_id, None, buyer_id, key)
    return await _bound_intent(uow, request, buyer_id, concurrent.bound) or live


async def _claim(
    uow: UnitOfWork, intent: Intent, buyer_id: UUID, now: datetime, gateway: GatewayName
) -> Prepared | Waiting:
    email = await intents.find_email(uow, buyer_id)
    if not email:
        return Waiting()
    may_be_charged = intent.channel == BANK_TRANSFER and intent.gateway == gateway
    reference = intent.reference if may_be_charged else charge_reference(new_id())
    claimed = await intents.claim_opening(uow, intent.id, reference, now + OPENING_LEASE, now, gateway)
    if claimed is None:
        return Waiting()
    if not may_be_charged:
        await _record_reference(uow, claimed, reference, buyer_id, now)
    page_reference = await _record_page_reference(uow, claimed, buyer_id, now)
    return Prepared(claimed, email, page_reference, may_be_charged)


async def _record_page_reference(uow: UnitOfWork, intent: Intent, buyer_id: UUID, now: datetime) -> str:
    """Return the reference of the payment page: a new one beside a bank transfer, else the intent's own."""
    if intent.channel != BANK_TRANSFER:
        return intent.reference
    reference = charge_reference(new_id())
    await _record_reference(uow, intent, reference, buyer_id, now)
    return reference


async def _record_reference(uow: UnitOfWork, intent: Intent, reference: str, buyer_id: UUID, now: datetime) -> None:
    settlement = str(intent.gateway_minor)
    await intents.record_reference(uow, reference, intent.id, buyer_id, settlement, now, intent.gateway)
