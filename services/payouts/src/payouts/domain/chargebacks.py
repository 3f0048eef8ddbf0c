"""Effects of a disputed charge on a wallet (contract sections 6 to 8). Amounts in kobo."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from payouts.domain.wallet import NO_MOVEMENT, Movement

ChargebackStatus = Literal["opened", "won", "lost"]


@dataclass(frozen=True, slots=True)
class ChargebackUpdate:
    """A chargeback as payments reports it. `vendor_minor` is the vendor's part of an open one.

    `lost` was taken back from the receivers of releases, `won` is the return of an earlier loss to them.
    """

    id: UUID
    order_id: UUID
    vendor_id: UUID
    status: ChargebackStatus
    vendor_minor: int
    lost: Movement = NO_MOVEMENT
    won: Movement = NO_MOVEMENT


@dataclass(frozen=True, slots=True)
class KnownChargeback:
    """A chargeback by its newest event, and the amount held for it."""

    status: ChargebackStatus
    held_minor: int


@dataclass(frozen=True, slots=True)
class OpenChargeback:
    """An undecided chargeback, and the amount held for it."""

    id: UUID
    vendor_minor: int
    held_minor: int


def allocate_holds(
    chargebacks: list[OpenChargeback], remaining_vendor_minor: int, credited_minor: int, available_minor: int
) -> dict[UUID, int]:
    """Returns how much more of the wallet each open chargeback of one order holds.

    The amount still in escrow covers them first. A loss debits at most what the wallet received for the order, so no more
    is held. An empty wallet holds what it has.
    """
    at_stake = sum(chargeback.vendor_minor - chargeback.held_minor for chargeback in chargebacks)
    received = credited_minor - sum(chargeback.held_minor for chargeback in chargebacks)
    rest = max(0, min(available_minor, received, at_stake - remaining_vendor_minor))
    holds = {}
    for chargeback in chargebacks:
        more = min(rest, chargeback.vendor_minor - chargeback.held_minor)
        if more:
            holds[chargeback.id] = more
            rest -= more
    return holds
