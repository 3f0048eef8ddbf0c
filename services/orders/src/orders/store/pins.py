"""Delivery PINs and verification attempts."""

from collections.abc import Callable
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from common.database.decisions import Decisions, DecisionTable
from common.database.reencryption import EncryptedRows, stale_text
from common.database.state_changes import StateChanged
from common.database.unit_of_work import UnitOfWork
from common.primitives.encryption import Encryptor
from common.primitives.idempotency import IdempotencyKeyReused
from orders.domain.order_history import OrderActor
from orders.domain.orders import Order
from orders.domain.pin_reissues import PinReissue
from orders.domain.pins import IssuedPin, PinEvent
from orders.store.orders import Companion

_LOCK_PIN: Final = "SELECT issue, digest, wrong_tries FROM delivery_pins WHERE order_id = $1 FOR UPDATE"
_INSERT_PIN: Final = """
INSERT INTO delivery_pins (order_id, buyer_id, issue, digest, sealed, wrong_tries, issued_at)
VALUES ($1, $2, $3, $4, $5, 0, $6)
ON CONFLICT (order_id) DO UPDATE
SET issue = excluded.issue, digest = excluded.digest, sealed = excluded.sealed, wrong_tries = 0,
    issued_at = excluded.issued_at
"""
_SAVE_PIN: Final = f"""
WITH recorded AS (
    INSERT INTO order_history (order_id, event, occurred_at, actor_id, actor_role)
    VALUES ($1, 'pin_issued', $6, $7, $8)
)
{_INSERT_PIN}
"""
_COUNT_WRONG_ATTEMPT: Final = """
WITH recorded AS (
    INSERT INTO order_history (order_id, event, occurred_at, actor_id, actor_role) VALUES ($1, $2, $3, $4, $5)
)
UPDATE delivery_pins SET wrong_tries = wrong_tries + 1 WHERE order_id = $1
"""
# The order's lock, which the transaction holds, orders the attempts of one order.
_LOCK_PIN_AND_FIND_VERIFICATION: Final = f"""
WITH pin AS MATERIALIZED ({_LOCK_PIN})
SELECT earlier.fingerprint, earlier.attempts_remaining, pin.issue, pin.digest, pin.wrong_tries
FROM (VALUES (1)) AS one LEFT JOIN pin ON true
LEFT JOIN delivery_verifications AS earlier ON earlier.caller_id = $2 AND earlier.idempotency_key = $3
"""
_RECORD_VERIFICATION: Final = """
INSERT INTO delivery_verifications (caller_id, idempotency_key, order_id, fingerprint, attempts_remaining, tried_at)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (caller_id, idempotency_key) DO NOTHING
"""

_FIND_REISSUE: Final = """
SELECT id, prepared_by, order_id, reason, expires_at, status FROM pin_reissues WHERE id = $1
"""
PIN_REISSUES: Final = Decisions(DecisionTable("pin_reissues"), PinReissue, _FIND_REISSUE)
_COUNT_REISSUES: Final = "SELECT count(*) FROM pin_reissues WHERE order_id = $1 AND status = 'approved'"


class Verification(NamedTuple):
    """The attempt that is bound to an Idempotency-Key; `attempts_remaining` is None after a correct PIN."""

    fingerprint: bytes
    attempts_remaining: int | None


async def lock_pin(uow: UnitOfWork, order_id: UUID) -> IssuedPin | None:
    """Return the order's PIN, locked until the transaction ends, so that parallel guesses run one after the other."""
    row = await uow.fetch_row(_LOCK_PIN, order_id)
    return None if row is None else IssuedPin(*row)


async def save_pin(
    uow: UnitOfWork, order: Order, issue: int, actor: OrderActor, *, digest: bytes, encrypted: str, now: datetime
) -> None:
    """Save the PIN of this issue, reset its wrong attempts, and record `pin_issued` in the order's history."""
    await uow.execute(_SAVE_PIN, order.id, order.buyer_id, issue, digest, encrypted, now, *actor)


def first_pin(order: Order, issue: int, *, digest: bytes, encrypted: str, now: datetime) -> Companion:
    """Return the same writes, to be made with a transition."""
    values = (order.id, order.buyer_id, issue, digest, encrypted, now)
    return Companion(_INSERT_PIN, values, StateChanged(f"no PIN of order {order.id} was saved"), "pin_issued")


async def count_wrong_attempt(
    uow: UnitOfWork, order_id: UUID, event: PinEvent, actor: OrderActor, now: datetime
) -> None:
    """Count a wrong attempt, and record it in the order's history as this event."""
    await uow.execute(_COUNT_WRONG_ATTEMPT, order_id, event, now, *actor)


async def lock_pin_and_find_verification(
    uow: UnitOfWork, order_id: UUID, caller_id: UUID, key: UUID
) -> tuple[IssuedPin | None, Verification | None]:
    """Return the order's PIN as `lock_pin` does, and the attempt that the caller made under the key."""
    row = await uow.fetch_row(_LOCK_PIN_AND_FIND_VERIFICATION, order_id, caller_id, key)
    if row is None:
        raise AssertionError("the statement always gives a row")
    fingerprint, remaining, *pin = row
    issued = None if pin[0] is None else IssuedPin(*pin)
    return issued, None if fingerprint is None else Verification(fingerprint, remaining)


async def record_verification_if_new(
    uow: UnitOfWork, caller_id: UUID, key: UUID, order_id: UUID, verification: Verification, now: datetime
) -> bool:
    """Bind the key to the attempt for good; False when a concurrent attempt on another order bound it first."""
    return await uow.execute(_RECORD_VERIFICATION, caller_id, key, order_id, *verification, now) == 1


def bound_verification(
    caller_id: UUID, key: UUID, order_id: UUID, verification: Verification, now: datetime
) -> Companion:
    """Return the same binding, to be made with a transition. Its conflict is IdempotencyKeyReused."""
    values = (caller_id, key, order_id, *verification, now)
    return Companion(_RECORD_VERIFICATION, values, IdempotencyKeyReused())


async def count_approved_reissues(uow: UnitOfWork, order_id: UUID) -> int:
    """Return the reissues of a locked order that two members of staff decided."""
    return int(await uow.fetch_value(_COUNT_REISSUES, order_id))


def encrypted_pins(encryptor: Encryptor, renew: Callable[[UUID, int, str], tuple[bytes, str]]) -> EncryptedRows:
    """Return the PINs for re-encryption. Digest and text change together, so both are always under the same key."""
    return EncryptedRows(
        table="delivery_pins",
        key="order_id",
        read=("issue", "sealed"),
        stale=stale_text("sealed"),
        encryptor=encryptor,
        renew=lambda row: dict(
            zip(("digest", "sealed"), renew(row["order_id"], row["issue"], row["sealed"]), strict=True)
        ),
    )
