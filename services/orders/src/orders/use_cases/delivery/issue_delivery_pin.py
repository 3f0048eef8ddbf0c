"""Issue a delivery PIN."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.encryption import Encryptor
from common.primitives.ids import new_digits
from contracts.orders import DeliveryPinIssued
from orders.domain.order_history import OrderActor
from orders.domain.orders import Order
from orders.domain.pins import PinKey, SharedPayment
from orders.store.pins import save_pin


class NewPin(NamedTuple):
    """A PIN in clear text, and as it is stored and published."""

    pin: str
    digest: bytes
    encrypted: str
    event: DeliveryPinIssued


@dataclass(frozen=True, slots=True)
class PinIssuer:
    """The keys and the length of PINs: `storage` encrypts at rest, `transport` for notifications."""

    key: PinKey
    storage: Encryptor
    transport: Encryptor
    length: int

    def draw(self, order: Order, issue: int, shared_payment: SharedPayment | None = None) -> NewPin:
        """Return a random PIN of this issue. `shared_payment` is the payment that paid other orders too."""
        pin = new_digits(self.length)
        event = DeliveryPinIssued(
            order_id=order.id,
            buyer_id=order.buyer_id,
            pin_sealed=self.transport.encrypt(pin, str(order.id)),
            issue=issue,
            number=order.number,
            payment_reference=shared_payment.reference if shared_payment else None,
            paid_orders=shared_payment.paid_orders if shared_payment else None,
        )
        encrypted = self.storage.encrypt(pin, _encryption_context(order.id, issue))
        return NewPin(pin, self.key.digest(order.id, issue, pin), encrypted, event)

    def decrypt_stored(self, order_id: UUID, issue: int, encrypted: str) -> str:
        """Return the stored PIN in clear text; raises DecryptionFailed."""
        return self.storage.decrypt(encrypted, _encryption_context(order_id, issue))

    def renew(self, order_id: UUID, issue: int, encrypted: str) -> tuple[bytes, str]:
        """Digest and encrypted text of the same PIN under the current key; raises DecryptionFailed."""
        pin = self.decrypt_stored(order_id, issue, encrypted)
        return self.key.digest(order_id, issue, pin), self.storage.encrypt(pin, _encryption_context(order_id, issue))


async def issue_delivery_pin(
    uow: UnitOfWork, pins: PinIssuer, order: Order, issue: int, actor: OrderActor, now: datetime
) -> str:
    """Issue another PIN as the actor: store its digest and its encrypted text, publish it to the buyer, and return it
    for the buyer only.
    """
    pin, digest, encrypted, event = pins.draw(order, issue)
    await save_pin(uow, order, issue, actor, digest=digest, encrypted=encrypted, now=now)
    uow.publish(event)
    return pin


def _encryption_context(order_id: UUID, issue: int) -> str:
    return f"{order_id}:{issue}"
