"""What a disputed charge means for a wallet (contract sections 6 to 8). Amounts in kobo."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

ChargebackStatus = Literal["opened", "won", "lost"]


@dataclass(frozen=True, slots=True)
class ChargebackUpdate:
    """A chargeback as payments told it; the amounts are the vendor's part."""

    id: UUID
    order_id: UUID
    vendor_id: UUID
    status: ChargebackStatus
    vendor_minor: int
    from_vendor_minor: int
    to_vendor_minor: int


@dataclass(frozen=True, slots=True)
class KnownChargeback:
    """A chargeback by the newest news that was heard, and what is held for it."""

    status: ChargebackStatus
    held_minor: int


@dataclass(frozen=True, slots=True)
class OpenChargeback:
    """A chargeback that is not decided, and what is held for it."""

    id: UUID
    vendor_minor: int
    held_minor: int


def allocate_holds(
    chargebacks: list[OpenChargeback], remaining_vendor_minor: int, available_minor: int
) -> dict[UUID, int]:
    """How much more of the wallet each open chargeback of one order holds.

    What is still in escrow answers for them first; a wallet that has been emptied holds what it has.
    """
    at_stake = sum(chargeback.vendor_minor - chargeback.held_minor for chargeback in chargebacks)
    rest = min(available_minor, max(0, at_stake - remaining_vendor_minor))
    holds = {}
    for chargeback in chargebacks:
        more = min(rest, chargeback.vendor_minor - chargeback.held_minor)
        if more:
            holds[chargeback.id] = more
            rest -= more
    return holds
