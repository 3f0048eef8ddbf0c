"""Verify a delivery by the buyer's PIN."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from common.primitives.idempotency import IdempotencyKeyReused
from common.primitives.problems import Forbidden, NotFound
from contracts.orders import OrderDelivered
from orders.domain.errors import DeliveryPinLocked
from orders.domain.order_history import actor_of
from orders.domain.order_roles import VERIFIER_ROLES, OrderRole
from orders.domain.orders import Order, Windows
from orders.domain.pins import CorrectPin, LockedPin, PinKey, WrongPin, evaluate_attempt
from orders.store import orders, timers
from orders.store.pins import (
    Verification,
    bound_verification,
    count_wrong_attempt,
    lock_pin_and_find_verification,
    record_verification_if_new,
)


@dataclass(frozen=True, slots=True)
class PinAttempt:
    """A caller's attempt at an order's PIN, under an Idempotency-Key."""

    order_id: UUID
    pin: str
    caller_id: UUID
    key: UUID


async def verify_delivery(
    uow: UnitOfWork, pins: PinKey, attempt: PinAttempt, roles: frozenset[OrderRole], *, now: datetime, windows: Windows
) -> WrongPin | None:
    """Vendor, packer, hub agent or buyer enter the PIN: the correct PIN delivers the order, a wrong PIN is counted.

    A wrong PIN is a return value, so that its count commits; the endpoint responds 400 after the commit. The same key
    again returns the same result and counts no attempt. Raises Forbidden, IdempotencyKeyReused (422),
    ForbiddenTransition (409), DeliveryPinLocked (429).
    """
    if not VERIFIER_ROLES & roles:
        raise Forbidden
    order = await orders.lock_order(uow, attempt.order_id)
    if order is None:
        raise NotFound
    actor, fingerprints = actor_of(attempt.caller_id, roles), pins.fingerprints(order.id, attempt.pin)
    issued, earlier = await lock_pin_and_find_verification(uow, order.id, attempt.caller_id, attempt.key)
    if earlier is not None:
        if earlier.fingerprint not in fingerprints:
            raise IdempotencyKeyReused
        return None if earlier.attempts_remaining is None else WrongPin(earlier.attempts_remaining)
    offered = [] if issued is None else pins.digests(order.id, issued.issue, attempt.pin)
    verdict = evaluate_attempt(order.status, issued, offered)
    if isinstance(verdict, LockedPin):
        due_at = await timers.find_next_timer(uow, order.id)
        wait = timedelta() if due_at is None else due_at - now
        raise DeliveryPinLocked(verdict.reissues_remaining, max(1, ceil(wait.total_seconds())))
    remaining = verdict.attempts_remaining if isinstance(verdict, WrongPin) else None
    recorded = Verification(fingerprints[0], remaining)
    if isinstance(verdict, CorrectPin) and verdict.delivers:
        bound = bound_verification(attempt.caller_id, attempt.key, order.id, recorded, now)
        facts = orders.TransitionFacts(event=_delivered(order, attempt.caller_id, now), also=bound, actor=actor)
        await orders.save_transition(uow, order, "delivered", "pin_accepted", now, windows, facts)
        return None
    if not await record_verification_if_new(uow, attempt.caller_id, attempt.key, order.id, recorded, now):
        raise IdempotencyKeyReused
    if isinstance(verdict, WrongPin):
        if verdict.counts:
            await count_wrong_attempt(uow, order.id, verdict.event, actor, now)
        return verdict
    return None


def _delivered(order: Order, verified_by: UUID, now: datetime) -> OrderDelivered:
    return OrderDelivered(
        order_id=order.id,
        buyer_id=order.buyer_id,
        vendor_id=order.vendor_id,
        delivered_at=iso(now),
        verified_by=verified_by,
        number=order.number,
    )
