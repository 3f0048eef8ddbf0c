"""Payments' signed statements of what it released to each vendor."""

import base64
from typing import Any
from uuid import UUID

import msgspec

from common.messaging.messages import Received
from common.primitives.signatures import SigningKey
from contracts.event import Event
from contracts.payments import ChargeDisputed, EscrowRefunded, EscrowReleased, ReleaseStatement, statement_message
from testkit.service_kit import OpenService

RELEASE_KEY = SigningKey(base64.urlsafe_b64encode(bytes(range(32))).decode())


class Payments:
    """Payments' signer: it counts and sums each vendor's movements, as payments' `sign_movement` does."""

    def __init__(self, key: SigningKey = RELEASE_KEY) -> None:
        self.key = key
        self._stated: dict[UUID, tuple[int, int]] = {}

    def statement(self, vendor_id: UUID, source: str, amount_minor: int) -> ReleaseStatement:
        sequence, net_minor = self._stated.get(vendor_id, (0, 0))
        sequence, net_minor = sequence + 1, net_minor + amount_minor
        self._stated[vendor_id] = (sequence, net_minor)
        message = statement_message(vendor_id, source, amount_minor, sequence, net_minor)
        return ReleaseStatement(
            sequence=sequence, net_minor=net_minor, key_id=self.key.id, signature=self.key.sign(message)
        )

    def signed(self, event: Event) -> Event:
        """Return the event with its statement, when it moves money of a vendor and has none."""
        source, amount_minor = movement_of(event)
        if not amount_minor or getattr(event, "statement", None) is not None:
            return event
        statement = self.statement(event.vendor_id, source, amount_minor)
        return msgspec.structs.replace(event, statement=statement)


def movement_of(event: Event) -> tuple[str, int]:
    """Return the source and the amount of an event's movement to or from a vendor."""
    if isinstance(event, EscrowReleased):
        return f"release:{event.release_id}", event.net_minor
    if isinstance(event, EscrowRefunded):
        return f"refund:{event.refund_id}", -event.from_vendor_minor
    if isinstance(event, ChargeDisputed):
        return f"chargeback:{event.chargeback_id}:{event.outcome}", event.to_vendor_minor - event.from_vendor_minor
    return "", 0


class SignedEvents:
    """The service with signed events: every movement is signed, the same event with the same statement each time."""

    def __init__(self, app: OpenService) -> None:
        self._app = app
        self.payments = Payments()
        self._signed: dict[Event, Event] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._app, name)

    async def deliver(self, event: Event, **how: Any) -> Received:
        if event not in self._signed:
            self._signed[event] = self.payments.signed(event)
        return await self._app.deliver(self._signed[event], **how)

    async def deliver_unsigned(self, event: Event, **how: Any) -> Received:
        """Delivers an event without a signature, or with one of the test."""
        return await self._app.deliver(event, **how)
