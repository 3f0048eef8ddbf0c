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

    def within(self, limit: "Parts") -> "Parts":
        """Return the same total with no part above its `limit`: an excess is on the first part with room.

        The total must not exceed the limit's.
        """
        parts = [min(part, most) for part, most in zip(self, limit, strict=True)]
        rest = self.total_minor - sum(parts)
        for index, most in enumerate(limit):
            more = min(rest, most - parts[index])
            parts[index] += more
            rest -= more
        return Parts(*parts)

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
    """Return the escrow of a newly covered order."""
    return Escrow(Parts(total_minor - commission_minor - delivery_fee_minor, commission_minor, delivery_fee_minor))


def release(escrow: Escrow, amount_minor: int, *, resolves_dispute: bool = False) -> Release:
    """Plan a release. Raises EscrowLocked (423) while disputed, EscrowBalanceDeficit (409) above the locked amount."""
    if escrow.is_disputed and not resolves_dispute:
        raise EscrowLocked
    if amount_minor > escrow.locked.total_minor:
        raise EscrowBalanceDeficit(escrow.locked.total_minor)
    parts = escrow.locked.share(amount_minor)
    return Release(parts, replace(escrow, locked=escrow.locked.minus(parts), released=escrow.released.plus(parts)))


def refund(escrow: Escrow, amount_minor: int, of_items: Parts | None = None) -> Refund:
    """Plan a refund from the locked amount first, then from earlier releases. Raises RefundExceedsHeld.

    A refund of a mere amount takes each part in proportion. A refund of items takes the parts `of_items`, less what a
    bank returned of them; a part that is too small is made good by the others (contract section 7.2).
    """
    left = escrow.locked.plus(escrow.released)
    if amount_minor > left.total_minor:
        raise RefundExceedsHeld(f"{amount_minor} kobo of {left.total_minor}")
    if of_items is None:
        from_locked = escrow.locked.share(min(amount_minor, escrow.locked.total_minor))
        from_released = escrow.released.share(amount_minor - from_locked.total_minor)
    else:
        parts = of_items.share(amount_minor).within(left)
        from_locked = Parts(*map(min, parts, escrow.locked))
        from_released = parts.minus(from_locked)
    after = replace(
        escrow,
        locked=escrow.locked.minus(from_locked),
        released=escrow.released.minus(from_released),
        refunded_minor=escrow.refunded_minor + amount_minor,
    )
    return Refund(from_locked, from_released, after)
