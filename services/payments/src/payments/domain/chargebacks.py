"""Chargebacks: the payer's bank claims a charge back, and the gateway decides. Amounts in the currency's minor unit."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from common.primitives.money import apportion
from payments.domain.escrow import NO_PARTS, Escrow, Parts

Outcome = Literal["won", "lost"]

# Refunds in these states are unsent or failed: a lost chargeback reduces them.
UNSENT_STATUSES: Final = ("pending", "failed", "prepared")


# The start of the identity of a row that allocates a refund made outside, and no dispute. Its id is the refund's.
OUTSIDE_PREFIX: Final = "outside:"


@dataclass(frozen=True, slots=True)
class ChargebackUpdate:
    """The gateway's state of a dispute. `amount_minor` is None for an absent or unusable amount; without an outcome it
    is open.

    `due_at`: without a response by then, the gateway decides for the payer. `awaits_response`: it has none of ours yet.
    `is_unclear`: the gateway decided in words that are unknown here, so the dispute stays open.
    """

    identity: str
    reference: str | None
    gateway_id: str | None
    amount_minor: int | None
    currency: str | None
    outcome: Outcome | None
    reason: str | None
    due_at: datetime | None
    awaits_response: bool
    is_unclear: bool = False


@dataclass(frozen=True, slots=True)
class DisputedCharge:
    """The charge that a dispute names, and the order that it paid, if any: the first of several."""

    id: UUID
    reference: str
    amount_minor: int
    currency: str
    order_id: UUID | None
    order_number: str | None = None


@dataclass(frozen=True, slots=True)
class NewChargeback:
    """A dispute over `amount_minor` of a charge; with `part_of` the part of another order in it."""

    id: UUID
    identity: str
    order_id: UUID | None
    amount_minor: int
    reason: str | None
    part_of: UUID | None


@dataclass(frozen=True, slots=True)
class UnsentRefund:
    """An unsent refund, or a part of it; it is of the order, where that is known."""

    id: UUID
    amount_minor: int
    order_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class ChargebackAllocation:
    """The sources of a lost chargeback's money. `loss_minor` is uncovered: the platform bears it."""

    from_refunds: tuple[UnsentRefund, ...] = ()
    from_locked: Parts = NO_PARTS
    from_released: Parts = NO_PARTS
    loss_minor: int = 0

    @property
    def from_order_minor(self) -> int:
        return self.from_locked.total_minor + self.from_released.total_minor

    @property
    def total_minor(self) -> int:
        return self.from_order_minor + self.loss_minor + sum(part.amount_minor for part in self.from_refunds)


def due_alert_key(chargeback_id: UUID) -> str:
    """Return the deduplication key of the alert before a dispute's date, to raise and to clear it."""
    return f"chargeback:{chargeback_id}:due"


def disputed_minor(update: ChargebackUpdate, charge: DisputedCharge) -> int:
    """Return the disputed amount: at most the charge, and all of it for an unusable amount or another currency (section
    7.7).
    """
    reported_minor = update.amount_minor
    if reported_minor is None or reported_minor <= 0:
        return charge.amount_minor
    if update.currency is not None and update.currency.upper() != charge.currency:
        return charge.amount_minor
    return min(reported_minor, charge.amount_minor)


def allocate_chargeback(
    amount_minor: int, refunds: Sequence[UnsentRefund], escrow: Escrow | None
) -> ChargebackAllocation:
    """Allocate a lost chargeback to unsent refunds, then escrow, then the receivers of released money.

    Refunds come first: the bank has returned their money, and no money is returned twice.
    """
    rest = amount_minor
    from_refunds = []
    for refund in refunds:
        part = min(rest, refund.amount_minor)
        if part:
            from_refunds.append(replace(refund, amount_minor=part))
            rest -= part
    if escrow is None:
        return ChargebackAllocation(tuple(from_refunds), loss_minor=rest)
    from_locked = escrow.locked.share(min(rest, escrow.locked.total_minor))
    rest -= from_locked.total_minor
    from_released = escrow.released.share(min(rest, escrow.released.total_minor))
    return ChargebackAllocation(tuple(from_refunds), from_locked, from_released, rest - from_released.total_minor)


def share_of_orders(amount_minor: int, escrows: Sequence[Escrow | None]) -> list[int]:
    """Return the part of each order in proportion to what it still has of the charge, in kobo.

    The remainder is on the last one, and what the orders do not have is on the first.
    """
    left = [0 if escrow is None else escrow.locked.total_minor + escrow.released.total_minor for escrow in escrows]
    shares = apportion(min(amount_minor, sum(left)), left)
    shares[0] += amount_minor - sum(shares)
    return shares


def allocate_to_orders(
    amount_minor: int, refunds: Sequence[UnsentRefund], orders: Sequence[tuple[UUID | None, Escrow | None]]
) -> list[ChargebackAllocation]:
    """Allocate a loss to unsent refunds of the charge, each beside its order, and the rest to the orders in proportion.

    What nothing covers, and a refund of no order of the list, is on the first. The loss of a single order is
    `allocate_chargeback`.
    """
    whole = allocate_chargeback(amount_minor, refunds, None)
    order_ids = [order_id for order_id, _ in orders]
    shares = share_of_orders(whole.loss_minor, [escrow for _, escrow in orders])
    allocations = [allocate_chargeback(share, (), escrow) for share, (_, escrow) in zip(shares, orders, strict=True)]
    for part in whole.from_refunds:
        place = order_ids.index(part.order_id) if part.order_id in order_ids else 0
        allocations[place] = replace(allocations[place], from_refunds=(*allocations[place].from_refunds, part))
    return allocations


def disputed_vendor_minor(amount_minor: int, escrow: Escrow) -> int:
    """Return the vendor's part of a disputed amount, in escrow and after it, in kobo."""
    allocation = allocate_chargeback(amount_minor, (), escrow)
    return allocation.from_locked.vendor_minor + allocation.from_released.vendor_minor
