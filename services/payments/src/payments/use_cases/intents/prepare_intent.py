"""Prepare a payment: find or record the intent and its reference before the call to the gateway (contract section 7)."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from payments.domain.errors import IdempotencyKeyReused, OrderNotPayable
from payments.domain.gateways import GatewayName
from payments.domain.identifiers import charge_reference
from payments.store import intents
from payments.store.intents import Intent

# Longer than a call to the gateway: a holder that still has the lease afterwards has died, and the next one uses a new reference.
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
    """The intent of the key. `email` is set when this caller has to call the gateway."""

    intent: Intent
    email: str | None

    @property
    def is_open(self) -> bool:
        """Whether the gateway has opened the payment."""
        return self.intent.status != "opening"


async def prepare_intent(
    uow: UnitOfWork, request: PaymentRequest, buyer_id: UUID, now: datetime, gateway: GatewayName
) -> Prepared | None:
    """The intent to return, to open at this gateway or to wait for; None for an order that is unknown or another buyer's.

    Raises OrderNotPayable (409) and IdempotencyKeyReused (422).
    """
    intent = await _intent_of_key(uow, request, buyer_id)
    if intent is None:
        intent = await _live_intent(uow, request, buyer_id, now)
        if intent is None:
            return None
        key = request.idempotency_key
        if not await intents.bind_key_if_new(uow, buyer_id, key, request.fingerprint, intent.id, now):
            # A concurrent request has bound the key; another content is rejected here.
            intent = await _intent_of_key(uow, request, buyer_id) or intent
    if intent.status == "closed" and intent.authorization_url is None:
        raise OrderNotPayable
    if intent.status != "opening":
        return Prepared(intent, None)
    return await _claim(uow, intent, buyer_id, now, gateway)


async def _intent_of_key(uow: UnitOfWork, request: PaymentRequest, buyer_id: UUID) -> Intent | None:
    bound = await intents.find_key(uow, buyer_id, request.idempotency_key)
    if bound is None:
        return None
    if bound.fingerprint != request.fingerprint:
        raise IdempotencyKeyReused
    return await intents.find_own_intent(uow, bound.intent_id, buyer_id)


async def _live_intent(uow: UnitOfWork, request: PaymentRequest, buyer_id: UUID, now: datetime) -> Intent | None:
    order = await intents.find_own_order(uow, request.order_id, buyer_id)
    if order is None:
        return None
    if order.status != "Processing" or order.payment_due_at <= now:
        raise OrderNotPayable
    live = await intents.find_live_intent(uow, request.order_id, buyer_id)
    if live is None:
        await intents.record_intent_if_new(
            uow,
            new_id(),
            request.order_id,
            buyer_id,
            charge_reference(new_id()),
            order,
            request.channel,
            request.callback_url,
            now,
        )
        live = await intents.find_live_intent(uow, request.order_id, buyer_id)
    if live is None:
        # The order ended between the two statements.
        raise OrderNotPayable
    return live


async def _claim(uow: UnitOfWork, intent: Intent, buyer_id: UUID, now: datetime, gateway: GatewayName) -> Prepared:
    email = await intents.find_email(uow, buyer_id)
    if not email:
        # The gateway requires the buyer's address, and their profile has not arrived yet.
        return Prepared(intent, None)
    reference = charge_reference(new_id())
    claimed = await intents.claim_opening(uow, intent.id, reference, now + OPENING_LEASE, now, gateway)
    if claimed is None:
        return Prepared(intent, None)
    await intents.record_reference(uow, reference, intent.id, buyer_id, str(intent.amount_minor), now, gateway)
    return Prepared(claimed, email)
