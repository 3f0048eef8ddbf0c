"""What is held of an order, and how a release or a refund takes from it. Amounts in kobo (contract section 7)."""

from dataclasses import dataclass, replace

from common.primitives.money import apportion
from payments.domain.errors import EscrowBalanceDeficit, EscrowLocked, RefundExceedsHeld


@dataclass(frozen=True, slots=True)
class Parts:
    """An amount by whom it belongs to: the vendor's net share, the platform's commission, the delivery fee."""

    vendor_minor: int = 0
    commission_minor: int = 0
    delivery_fee_minor: int = 0

    @property
    def total_minor(self) -> int:
        return self.vendor_minor + self.commission_minor + self.delivery_fee_minor

    def share(self, amount_minor: int) -> "Parts":
        """`amount_minor` of it, each part in proportion, the remainder on the last part that can carry it."""
        return Parts(*apportion(amount_minor, (self.vendor_minor, self.commission_minor, self.delivery_fee_minor)))

    def plus(self, other: "Parts") -> "Parts":
        return Parts(
            self.vendor_minor + other.vendor_minor,
            self.commission_minor + other.commission_minor,
            self.delivery_fee_minor + other.delivery_fee_minor,
        )

    def minus(self, other: "Parts") -> "Parts":
        return Parts(
            self.vendor_minor - other.vendor_minor,
            self.commission_minor - other.commission_minor,
            self.delivery_fee_minor - other.delivery_fee_minor,
        )


@dataclass(frozen=True, slots=True)
class Escrow:
    """The money of one order: `locked` is still held, `released` has left and was not refunded since."""

    locked: Parts
    released: Parts = Parts()
    refunded_minor: int = 0
    is_disputed: bool = False


@dataclass(frozen=True, slots=True)
class Release:
    """A release that may be posted: its parts, and the escrow after it."""

    parts: Parts
    after: Escrow


@dataclass(frozen=True, slots=True)
class Refund:
    """A refund that may be posted: what it takes from escrow and from what was released, and the escrow after it."""

    from_locked: Parts
    from_released: Parts
    after: Escrow


def held(total_minor: int, commission_minor: int, delivery_fee_minor: int) -> Escrow:
    """The escrow of an order that has just been covered."""
    return Escrow(Parts(total_minor - commission_minor - delivery_fee_minor, commission_minor, delivery_fee_minor))


def release(escrow: Escrow, amount_minor: int, *, resolves_dispute: bool = False) -> Release:
    """Plans a release. Raises EscrowLocked (423) while disputed, EscrowBalanceDeficit (409) above what is locked."""
    if escrow.is_disputed and not resolves_dispute:
        raise EscrowLocked
    if amount_minor > escrow.locked.total_minor:
        raise EscrowBalanceDeficit(escrow.locked.total_minor)
    parts = escrow.locked.share(amount_minor)
    return Release(parts, replace(escrow, locked=escrow.locked.minus(parts), released=escrow.released.plus(parts)))


def refund(escrow: Escrow, amount_minor: int) -> Refund:
    """Plans a refund: from what is locked first, then from what was released. Raises RefundExceedsHeld."""
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
