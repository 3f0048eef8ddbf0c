"""Delivery PINs, and the tries at them."""

from collections.abc import Callable
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from common.database.reencryption import EncryptedRows, stale_text
from common.database.unit_of_work import UnitOfWork
from common.primitives.encryption import Encryptor
from orders.domain.orders import Order
from orders.domain.pins import IssuedPin

_LOCK_PIN: Final = "SELECT issue, digest, wrong_tries FROM delivery_pins WHERE order_id = $1 FOR UPDATE"
_SAVE_PIN: Final = """
INSERT INTO delivery_pins (order_id, buyer_id, issue, digest, sealed, wrong_tries, issued_at)
VALUES ($1, $2, $3, $4, $5, 0, $6)
ON CONFLICT (order_id) DO UPDATE
SET issue = excluded.issue, digest = excluded.digest, sealed = excluded.sealed, wrong_tries = 0, issued_at = excluded.issued_at
"""
_NEWEST_PIN: Final = "SELECT order_id, issue, sealed FROM delivery_pins ORDER BY issued_at DESC LIMIT 1"
_COUNT_WRONG_TRY: Final = "UPDATE delivery_pins SET wrong_tries = wrong_tries + 1 WHERE order_id = $1"
_FIND_VERIFICATION: Final = """
SELECT fingerprint, attempts_remaining FROM delivery_verifications WHERE caller_id = $1 AND idempotency_key = $2
"""
_RECORD_VERIFICATION: Final = """
INSERT INTO delivery_verifications (caller_id, idempotency_key, order_id, fingerprint, attempts_remaining, tried_at)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (caller_id, idempotency_key) DO NOTHING
"""


class Verification(NamedTuple):
    """A try that was made under an Idempotency-Key; `attempts_remaining` is None when the PIN was right."""

    fingerprint: bytes
    attempts_remaining: int | None


async def lock_pin(uow: UnitOfWork, order_id: UUID) -> IssuedPin | None:
    """The order's PIN, held until the transaction ends: parallel guesses stand in line."""
    row = await uow.fetch_row(_LOCK_PIN, order_id)
    return None if row is None else IssuedPin(row["issue"], row["digest"], row["wrong_tries"])


async def save_pin(uow: UnitOfWork, order: Order, issue: int, *, digest: bytes, sealed: str, now: datetime) -> None:
    """The order's PIN of this issue, with all tries ahead of it."""
    await uow.execute(_SAVE_PIN, order.id, order.buyer_id, issue, digest, sealed, now)


async def find_newest_pin(uow: UnitOfWork) -> tuple[UUID, int, str] | None:
    """Order, issue and encrypted PIN."""
    row = await uow.fetch_row(_NEWEST_PIN)
    return None if row is None else (row["order_id"], row["issue"], row["sealed"])


async def count_wrong_attempt(uow: UnitOfWork, order_id: UUID) -> None:
    await uow.execute(_COUNT_WRONG_TRY, order_id)


async def find_verification(uow: UnitOfWork, caller_id: UUID, key: UUID) -> Verification | None:
    """The try that the caller made under the key."""
    row = await uow.fetch_row(_FIND_VERIFICATION, caller_id, key)
    return None if row is None else Verification(row["fingerprint"], row["attempts_remaining"])


async def record_verification_if_new(
    uow: UnitOfWork, caller_id: UUID, key: UUID, order_id: UUID, verification: Verification, now: datetime
) -> bool:
    """Binds the key to the try for good; False when the caller used it for another order at this very moment."""
    return await uow.execute(_RECORD_VERIFICATION, caller_id, key, order_id, *verification, now) == 1


def encrypted_pins(sealer: Encryptor, renew: Callable[[UUID, int, str], tuple[bytes, str]]) -> EncryptedRows:
    """For re-encryption: digest and text change together, so that a PIN is always under one key."""
    return EncryptedRows(
        table="delivery_pins",
        key="order_id",
        read=("issue", "sealed"),
        stale=stale_text("sealed"),
        sealer=sealer,
        renew=lambda row: dict(
            zip(("digest", "sealed"), renew(row["order_id"], row["issue"], row["sealed"]), strict=True)
        ),
    )
