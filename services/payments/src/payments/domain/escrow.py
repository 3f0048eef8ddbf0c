"""The escrow of an order, its releases and refunds. Amounts in kobo (contract section 7)."""

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from common.primitives.money import apportion
from payments.domain.errors import EscrowBalanceDeficit, EscrowLocked, RefundExceedsHeld


class Parts(NamedTuple):
    """An amount split by owner: the vendor's net share, the platform's commission, the delivery fee."""

    vendor_minor: int = 0
    commission_minor: int = 0
    delivery_fee_minor: int = 0

    @property
    def total_minor(self) -> int:
        return self.vendor_minor + self.commission_minor + self.delivery_fee_minor

    def share(self, amount_minor: int) -> "Parts":
        """`amount_minor` of the parts in proportion, the remainder on the last part that can include it."""
        return Parts(*apportion(amount_minor, self))

    def plus(self, other: "Parts") -> "Parts":
        return Parts(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    def minus(self, other: "Parts") -> "Parts":
        return Parts(*(mine - theirs for mine, theirs in zip(self, other, strict=True)))


NO_PARTS: Final = Parts()


@dataclass(frozen=True, slots=True)
class Escrow:
    """The money of one order: `locked` is held, `released` was paid out and not refunded since."""

    locked: Parts
    released: Parts = NO_PARTS
    refunded_minor: int = 0
    is_disputed: bool = False


@dataclass(frozen=True, slots=True)
class Release:
    """A permitted release: its parts, and the escrow after it."""

    parts: Parts
    after: Escrow


@dataclass(frozen=True, slots=True)
class Refund:
    """A permitted refund: its parts from escrow and from earlier releases, and the escrow after it."""

    from_locked: Parts
    from_released: Parts
    after: Escrow


def held(total_minor: int, commission_minor: int, delivery_fee_minor: int) -> Escrow:
    """The escrow of a newly covered order."""
    return Escrow(Parts(total_minor - commission_minor - delivery_fee_minor, commission_minor, delivery_fee_minor))


def release(escrow: Escrow, amount_minor: int, *, resolves_dispute: bool = False) -> Release:
    """Plan a release. Raises EscrowLocked (423) while disputed, EscrowBalanceDeficit (409) above the locked amount."""
    if escrow.is_disputed and not resolves_dispute:
        raise EscrowLocked
    if amount_minor > escrow.locked.total_minor:
        raise EscrowBalanceDeficit(escrow.locked.total_minor)
    parts = escrow.locked.share(amount_minor)
    return Release(parts, replace(escrow, locked=escrow.locked.minus(parts), released=escrow.released.plus(parts)))


def refund(escrow: Escrow, amount_minor: int) -> Refund:
    """Plan a refund from the locked amount first, then from earlier releases. Raises RefundExceedsHeld."""
    if amount_minor > escrow.locked.total_minor + escrow.released.total_minor:
        raise RefundExceedsHeld(f"{amount_minor} kobo of {escrow.locked.total_minor + escrow.released.total_minor}")
    from_locked = escrow.locked.share(min(amount_minor, escrow.locked.total_minor))
    from_released = escrow.released.share(amount_minor - from_locked.total_minor)
    after = replace(
        escrow,
        locked=escrow.locked.minus(from_locked),
        released=escrow.released.minus(from_released),
        refunded_minor=escrow.refunded_minor + amount_minor,
    )
    return Refund(from_locked, from_released, after)
