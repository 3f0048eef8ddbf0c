"""Effects of a disputed charge on a wallet (contract sections 6 to 8). Amounts in kobo."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
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
    sequence: int


@dataclass(frozen=True, slots=True)
class OpenChargeback:
    """An undecided chargeback, and the amount held for it.

    `remaining_minor` is the vendor's share of the order's escrow, `credited_minor` what the wallet received for the
    order less what its refunds and chargebacks debited. `uncovered_minor`: at stake, and not in the wallet so far.
    """

    id: UUID
    order_id: UUID
    vendor_minor: int
    held_minor: int
    uncovered_minor: int
    remaining_minor: int
    credited_minor: int


@dataclass(frozen=True, slots=True)
class HoldChange:
    """Change of one chargeback's hold; below zero, it returns to the wallet. `uncovered_minor` is missing after
    that.
    """

    chargeback_id: UUID
    order_id: UUID
    added_minor: int
    uncovered_minor: int


def plan_holds(chargebacks: Sequence[OpenChargeback], available_minor: int) -> list[HoldChange]:
    """Return the changes of a vendor's holds; those of one order are together in `chargebacks`.

    The amount still in escrow covers an order's chargebacks first. A loss debits at most what the wallet received for
    the order, so no more is held. An empty wallet holds what it has, and later credits are held up to the amount at
    stake.
    """
    changes = []
    for _, group in groupby(chargebacks, key=lambda chargeback: chargeback.order_id):
        of_order = list(group)
        disputed_minor = sum(chargeback.vendor_minor for chargeback in of_order)
        rest = max(0, min(of_order[0].credited_minor, disputed_minor - of_order[0].remaining_minor))
        for chargeback in of_order:
            at_stake_minor = min(rest, chargeback.vendor_minor)
            rest -= at_stake_minor
            added_minor = min(at_stake_minor - chargeback.held_minor, available_minor)
            available_minor -= max(0, added_minor)
            uncovered_minor = at_stake_minor - chargeback.held_minor - added_minor
            if added_minor or uncovered_minor != chargeback.uncovered_minor:
                changes.append(HoldChange(chargeback.id, chargeback.order_id, added_minor, uncovered_minor))
    return changes
