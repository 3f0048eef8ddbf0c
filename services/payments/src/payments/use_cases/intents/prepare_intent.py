"""Prepare a payment: find or write down the intent and its reference before the gateway is called (contract section 7)."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import asyncpg

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from payments import store
from payments.domain.errors import IdempotencyKeyReused, OrderNotPayable
from payments.domain.identifiers import charge_reference

# Longer than a call to the gateway can take: then whoever held it is gone, and the next one calls under a new reference.
OPENING_LEASE: Final = timedelta(seconds=15)


@dataclass(frozen=True, slots=True)
class PaymentRequest:
    """What a buyer asked for, under their idempotency key."""

    order_id: UUID
    channel: str | None
    callback_url: str | None
    idempotency_key: UUID

    @property
    def fingerprint(self) -> bytes:
        """Tells a repetition from another content under the same key."""
        content = json.dumps([str(self.order_id), self.channel, self.callback_url])
        return hashlib.sha256(content.encode()).digest()


@dataclass(frozen=True, slots=True)
class Prepared:
    """The intent of the key. `email` is set when this caller is the one to call the gateway."""

    intent: asyncpg.Record
    email: str | None

    @property
    def is_answer(self) -> bool:
        """Whether nothing is left to be done or waited for."""
        return str(self.intent["status"]) != "opening"


async def prepare_intent(uow: UnitOfWork, asked: PaymentRequest, buyer_id: UUID, now: datetime) -> Prepared | None:
    """The intent to answer with, to open, or to wait for; None while the order is not known, or is not the buyer's.

    Raises OrderNotPayable (409) and IdempotencyKeyReused (422).
    """
    intent = await _intent_of_key(uow, asked, buyer_id)
    if intent is None:
        order = await store.find_own_order(uow, asked.order_id, buyer_id)
        if order is None:
            return None
        intent = await _live_intent(uow, asked, order, buyer_id, now)
        if not await store.bind_key_if_new(uow, buyer_id, asked.idempotency_key, asked.fingerprint, intent["id"], now):
            # Two contents under one key at once: the first one bound it, and the other is refused here.
            intent = await _intent_of_key(uow, asked, buyer_id) or intent
    if intent["status"] == "closed" and intent["authorization_url"] is None:
        raise OrderNotPayable
    if intent["status"] != "opening":
        return Prepared(intent, None)
    return await _claimed(uow, intent, buyer_id, now)


async def _intent_of_key(uow: UnitOfWork, asked: PaymentRequest, buyer_id: UUID) -> asyncpg.Record | None:
    bound = await store.find_key(uow, buyer_id, asked.idempotency_key)
    if bound is None:
        return None
    if bytes(bound["fingerprint"]) != asked.fingerprint:
        raise IdempotencyKeyReused
    return await store.find_own_intent(uow, bound["intent_id"], buyer_id)


async def _live_intent(
    uow: UnitOfWork, asked: PaymentRequest, order: asyncpg.Record, buyer_id: UUID, now: datetime
) -> asyncpg.Record:
    if order["status"] != "Processing" or order["payment_due_at"] <= now:
        raise OrderNotPayable
    live = await store.find_live_intent(uow, asked.order_id, buyer_id)
    if live is None:
        await store.record_intent_if_new(
            uow,
            new_id(),
            asked.order_id,
            buyer_id,
            charge_reference(new_id()),
            order["total_minor"],
            order["currency"],
            asked.channel,
            asked.callback_url,
            order["payment_due_at"],
            now,
        )
        live = await store.find_live_intent(uow, asked.order_id, buyer_id)
    if live is None:
        # The order ended between the two statements.
        raise OrderNotPayable
    return live


async def _claimed(uow: UnitOfWork, intent: asyncpg.Record, buyer_id: UUID, now: datetime) -> Prepared:
    reference = charge_reference(new_id())
    claimed = await store.claim_opening(uow, intent["id"], reference, now + OPENING_LEASE, now)
    if claimed is None:
        return Prepared(intent, None)
    await store.record_reference(uow, reference, intent["id"], buyer_id, str(intent["amount_minor"]), now)
    # The gateway wants an address; a buyer whose profile has not been heard of yet gets one that reaches nobody.
    email = await store.find_email(uow, buyer_id) or f"{buyer_id}@buyer.invalid"
    return Prepared(claimed, email)
