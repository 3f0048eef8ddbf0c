"""Making a delivery PIN."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.encryption import Encryptor
from common.primitives.ids import new_digits
from contracts.orders import DeliveryPinIssued
from orders import store
from orders.domain.orders import Order
from orders.domain.pins import PinKey


@dataclass(frozen=True, slots=True)
class PinIssuer:
    """The keys and the length of PINs. `kept` encrypts for this service alone, `sent` for notifications."""

    key: PinKey
    kept: Encryptor
    sent: Encryptor
    length: int

    def decrypt_stored(self, order_id: UUID, issue: int, sealed: str) -> str:
        """The PIN that is kept for the buyer; raises SealBroken."""
        return self.kept.decrypt(sealed, _encryption_context(order_id, issue))

    def renew(self, order_id: UUID, issue: int, sealed: str) -> tuple[bytes, str]:
        """Digest and encrypted text of the same PIN under the current key; raises SealBroken."""
        pin = self.decrypt_stored(order_id, issue, sealed)
        return self.key.digest(order_id, issue, pin), self.kept.encrypt(pin, _encryption_context(order_id, issue))


async def issue_delivery_pin(uow: UnitOfWork, pins: PinIssuer, order: Order, issue: int, now: datetime) -> str:
    """A fresh PIN for the order, kept as a digest and sealed, and on its way to the buyer. Answers the PIN, for the buyer only."""
    pin = new_digits(pins.length)
    await store.save_pin(
        uow,
        order,
        issue,
        digest=pins.key.digest(order.id, issue, pin),
        sealed=pins.kept.encrypt(pin, _encryption_context(order.id, issue)),
        now=now,
    )
    encrypted_for_notifications = pins.sent.encrypt(pin, str(order.id))
    uow.publish(
        DeliveryPinIssued(
            order_id=order.id, buyer_id=order.buyer_id, pin_sealed=encrypted_for_notifications, issue=issue
        )
    )
    return pin


def _encryption_context(order_id: UUID, issue: int) -> str:
    return f"{order_id}:{issue}"
