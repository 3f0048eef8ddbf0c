"""Prepare a payment: find or record the intent and its reference before the call to the gateway (contract section 7)."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.idempotency import IdempotencyKeyReused
from common.primitives.ids import new_id
from payments.domain.errors import OrderNotPayable
from payments.domain.gateways import GatewayName
from payments.domain.identifiers import charge_reference
from payments.store import intents
from payments.store.intents import BoundKey, Intent, OrderToPay

# Longer than a call to the gateway: a process that still has the lease then has died, and the next one uses a new reference.
OPENING_LEASE: Final = timedelta(seconds=15)


@dataclass(frozen=True, slots=True)
class PaymentRequest:
    """A buyer's request for a payment, under their idempotency key."""

    order_id: UUID
    channel: str | None
    callback_url: str | None
    idempotency_key: UUID

    @property
    def fingerprint(self) -> bytes:
        """Differs for two contents under one key."""
        content = json.dumps([str(self.order_id), self.channel, self.callback_url])
        return hashlib.sha256(content.encode()).digest()


@dataclass(frozen=True, slots=True)
class Prepared:
    """The intent of the key: open, or to be opened by this caller at the gateway with `email`."""

    intent: Intent
    email: str | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """Another caller opens the payment, or the buyer's profile with the address has not arrived yet."""


async def prepare_intent(
    uow: UnitOfWork, request: PaymentRequest, buyer_id: UUID, now: datetime, gateway: GatewayName
) -> Prepared | Waiting | None:
    """Return the intent to return or to open at this gateway; None for an order that is unknown or another buyer's.

    Raises OrderNotPayable (409) and IdempotencyKeyReused (422).
    """
    order, bound = await intents.find_own_order_and_key(uow, request.order_id, buyer_id, request.idempotency_key)
    intent = await _bound_intent(uow, request, buyer_id, bound)
    if intent is None:
        if order is None:
            return None
        if order.status != "Processing" or order.payment_due_at <= now:
            raise OrderNotPayable
        if order.email and (new := await _record_intent(uow, request, order, buyer_id, now, gateway)):
            return Prepared(new, order.email)
        intent = await _bind_to_live_intent(uow, request, buyer_id, now)
        if intent is None:
            if not order.email:
                return Waiting()
            # The order ended between the two statements.
            raise OrderNotPayable
    if intent.status == "closed" and intent.authorization_url is None:
        raise OrderNotPayable
    if intent.status != "opening":
        return Prepared(intent)
    return await _claim(uow, intent, buyer_id, now, gateway)


async def _bound_intent(
    uow: UnitOfWork, request: PaymentRequest, buyer_id: UUID, bound: BoundKey | None
) -> Intent | None:
    if bound is None:
        return None
    if bound.fingerprint != request.fingerprint:
        raise IdempotencyKeyReused
    return await intents.find_own_intent(uow, bound.intent_id, buyer_id)


async def _record_intent(
    uow: UnitOfWork, request: PaymentRequest, order: OrderToPay, buyer_id: UUID, now: datetime, gateway: GatewayName
) -> Intent | None:
    new = Intent(
        id=new_id(),
        order_id=request.order_id,
        reference=charge_reference(new_id()),
        amount_minor=order.total_minor,
        currency=order.currency,
        status="opening",
        channel=request.channel,
        callback_url=request.callback_url,
        authorization_url=None,
        access_code=None,
        expires_at=order.payment_due_at,
        gateway=gateway,
    )
    until = now + OPENING_LEASE
    return await intents.record_claimed_intent_if_new(
        uow, new, buyer_id, until, request.idempotency_key, request.fingerprint, now
    )


async def _bind_to_live_intent(
    uow: UnitOfWork, request: PaymentRequest, buyer_id: UUID, now: datetime
) -> Intent | None:
    live = await intents.find_live_intent(uow, request.order_id, buyer_id)
    key = request.idempotency_key
    if live is None or await intents.bind_key_if_new(uow, buyer_id, key, request.fingerprint, live.id, now):
        return live
    # A concurrent request has bound the key; another content is rejected here.
    _, bound = await intents.find_own_order_and_key(uow, request.order_id, buyer_id, key)
    return await _bound_intent(uow, request, buyer_id, bound) or live


async def _claim(
    uow: UnitOfWork, intent: Intent, buyer_id: UUID, now: datetime, gateway: GatewayName
) -> Prepared | Waiting:
    email = await intents.find_email(uow, buyer_id)
    if not email:
        return Waiting()
    reference = charge_reference(new_id())
    claimed = await intents.claim_opening(uow, intent.id, reference, now + OPENING_LEASE, now, gateway)
    if claimed is None:
        return Waiting()
    await intents.record_reference(uow, reference, intent.id, buyer_id, str(intent.amount_minor), now, gateway)
    return Prepared(claimed, email)
