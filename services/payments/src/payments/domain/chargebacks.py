"""A chargeback: the payer's bank asks for its money back at the gateway, and the gateway decides. Amounts in the currency's minor unit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal
from uuid import UUID

from common.primitives.money import AMOUNT_MINOR_MAX
from payments.domain.errors import ChargebackContradiction, MalformedEvent
from payments.domain.escrow import Escrow, Parts
from payments.domain.webhooks import fields_of, identifier_of, phrase_of, text_of

NOTHING: Final = Parts()
Outcome = Literal["won", "lost"]

RESOLVED_EVENT: Final = "charge.dispute.resolve"
# The gateway's words for how a dispute ended. Declined is the merchant's word to the bank, and it stood: the money stays.
_OUTCOMES: Final[Mapping[str, Outcome]] = {
    "declined": "won",
    "won": "won",
    "merchant-accepted": "lost",
    "auto-accepted": "lost",
    "accepted": "lost",
    "lost": "lost",
}
# Refunds in these states have not been sent, or did not arrive: what a bank took is no longer owed by them.
UNSENT_STATUSES: Final = ("pending", "failed", "prepared")


@dataclass(frozen=True, slots=True)
class ChargebackUpdate:
    """What a `charge.dispute.*` body says. Without an amount, all of the charge is disputed."""

    identity: str
    reference: str | None
    gateway_id: str | None
    amount_minor: int | None
    currency: str | None
    outcome: Outcome | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class DisputedCharge:
    """The charge that a dispute names, and the order whose escrow it made, if it made one."""

    id: UUID
    reference: str
    amount_minor: int
    currency: str
    order_id: UUID | None


@dataclass(frozen=True, slots=True)
class UnsentRefund:
    """A refund that has not left."""

    id: UUID
    amount_minor: int


@dataclass(frozen=True, slots=True)
class ChargebackAllocation:
    """Where the money of a lost chargeback comes from. `loss_minor` is what nothing covers: the platform bears it."""

    from_refunds: tuple[UnsentRefund, ...] = ()
    from_locked: Parts = NOTHING
    from_released: Parts = NOTHING
    loss_minor: int = 0

    @property
    def from_order_minor(self) -> int:
        return self.from_locked.total_minor + self.from_released.total_minor


def read_chargeback(event_type: str, data: Mapping[str, Any]) -> ChargebackUpdate:
    """The dispute of a `charge.dispute.*` body. Raises NewsUnreadable when it names no charge, or resolves in no known word."""
    transaction = fields_of(data.get("transaction"))
    reference = text_of(transaction.get("reference")) or text_of(data.get("transaction_reference"))
    gateway_id = identifier_of(transaction.get("id"))
    if reference is None and gateway_id is None:
        raise MalformedEvent(f"{event_type} names no transaction")
    amount = data.get("refund_amount")
    if amount is not None and (isinstance(amount, bool) or not isinstance(amount, int)):
        raise MalformedEvent(f"{event_type} without a usable amount")
    outcome = _OUTCOMES.get(text_of(data.get("resolution")) or "") if event_type == RESOLVED_EVENT else None
    if event_type == RESOLVED_EVENT and outcome is None:
        raise MalformedEvent(f"{event_type} does not say how it was resolved")
    return ChargebackUpdate(
        identity=identifier_of(data.get("id")) or f"transaction:{reference or gateway_id}",
        reference=reference,
        gateway_id=gateway_id,
        amount_minor=amount,
        currency=text_of(data.get("currency")),
        outcome=outcome,
        reason=phrase_of(data.get("category")),
    )


def disputed_minor(update: ChargebackUpdate, charge: DisputedCharge) -> int:
    """How much of the charge is disputed. Raises ChargebackContradiction when the charge cannot be what the gateway speaks of."""
    amount_minor = charge.amount_minor if update.amount_minor is None else update.amount_minor
    if not 0 < amount_minor <= min(charge.amount_minor, AMOUNT_MINOR_MAX):
        raise ChargebackContradiction(f"{amount_minor} are disputed of a charge of {charge.amount_minor}")
    if update.currency is not None and update.currency.upper() != charge.currency:
        raise ChargebackContradiction(f"{update.currency} are disputed of a charge in {charge.currency}")
    return amount_minor


def allocate_chargeback(
    amount_minor: int, refunds: Sequence[UnsentRefund], escrow: Escrow | None
) -> ChargebackAllocation:
    """Where a lost chargeback takes from: refunds that have not left, then escrow, then those who got the order's money.

    A refund first: the bank has given the buyer what we still owed them, and the same money never goes back twice.
    """
    rest = amount_minor
    from_refunds = []
    for refund in refunds:
        part = min(rest, refund.amount_minor)
        if part:
            from_refunds.append(UnsentRefund(refund.id, part))
            rest -= part
    if escrow is None:
        return ChargebackAllocation(tuple(from_refunds), loss_minor=rest)
    from_locked = escrow.locked.share(min(rest, escrow.locked.total_minor))
    rest -= from_locked.total_minor
    from_released = escrow.released.share(min(rest, escrow.released.total_minor))
    return ChargebackAllocation(tuple(from_refunds), from_locked, from_released, rest - from_released.total_minor)


def vendor_at_stake_minor(amount_minor: int, escrow: Escrow) -> int:
    """The vendor's part of a disputed amount, in escrow and after it, in kobo."""
    take = allocate_chargeback(amount_minor, (), escrow)
    return take.from_locked.vendor_minor + take.from_released.vendor_minor
