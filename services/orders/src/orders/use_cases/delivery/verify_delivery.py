"""Proving delivery with the buyer's PIN."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from common.primitives.problems import Forbidden, NotFound
from contracts.orders import OrderDelivered
from orders import store
from orders.domain.errors import IdempotencyKeyReused
from orders.domain.order_roles import VERIFIER_ROLES, OrderRole
from orders.domain.orders import Order, Windows
from orders.domain.pins import CorrectPin, PinKey, WrongPin, evaluate_attempt


@dataclass(frozen=True, slots=True)
class PinAttempt:
    """One try at an order's PIN, by a caller, under their Idempotency-Key."""

    order_id: UUID
    pin: str
    caller_id: UUID
    key: UUID


async def verify_delivery(
    uow: UnitOfWork, pins: PinKey, tried: PinAttempt, roles: frozenset[OrderRole], *, now: datetime, windows: Windows
) -> WrongPin | None:
    """Vendor, hub agent or buyer show the PIN: the right one makes the order delivered, a wrong one is counted.

    A wrong PIN is answered as a value, so that the count commits; the door turns it into 400 after the commit. The same key again
    gets the same answer and spends no try. Raises Forbidden, IdempotencyKeyReused (422), ForbiddenMove (409), DeliveryPinLocked (429).
    """
    if not VERIFIER_ROLES & roles:
        raise Forbidden
    order = await store.lock_order(uow, tried.order_id)
    if order is None:
        raise NotFound
    fingerprints = pins.fingerprints(order.id, tried.pin)
    before = await store.find_verification(uow, tried.caller_id, tried.key)
    if before is not None:
        if before.fingerprint not in fingerprints:
            raise IdempotencyKeyReused
        return None if before.attempts_remaining is None else WrongPin(before.attempts_remaining)
    issued = await store.lock_pin(uow, order.id)
    offered = [] if issued is None else pins.digests(order.id, issued.issue, tried.pin)
    verdict = evaluate_attempt(order.status, issued, offered)
    remaining = verdict.attempts_remaining if isinstance(verdict, WrongPin) else None
    recorded = store.Verification(fingerprints[0], remaining)
    if not await store.record_verification_if_new(uow, tried.caller_id, tried.key, order.id, recorded, now):
        raise IdempotencyKeyReused
    if isinstance(verdict, WrongPin):
        if verdict.counts:
            await store.count_wrong_attempt(uow, order.id)
        return verdict
    await _deliver(uow, order, verdict, tried.caller_id, now, windows)
    return None


async def _deliver(
    uow: UnitOfWork, order: Order, verdict: CorrectPin, verified_by: UUID, now: datetime, windows: Windows
) -> None:
    if not verdict.moves:
        return
    await store.save_transition(uow, order, "delivered", now, windows)
    uow.publish(
        OrderDelivered(
            order_id=order.id,
            buyer_id=order.buyer_id,
            vendor_id=order.vendor_id,
            delivered_at=iso(now),
            verified_by=verified_by,
        )
    )
