"""What a settled charge is worth: the verdict of section 7. Amounts in kobo."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final
from uuid import UUID

from common.primitives.money import AMOUNT_MINOR_MAX
from payments.domain.accounts import HOME_CURRENCY, NO_CURRENCY
from payments.domain.errors import MalformedEvent
from payments.domain.webhooks import fields_of, identifier_of, text_of

_CURRENCY: Final = re.compile(r"[A-Za-z]{3}", re.ASCII)
_DIGITS: Final = re.compile(r"[0-9]{1,18}", re.ASCII)
# The flat part of a gateway's fee, which a payer may bear beside the share (contract section 7.4).
SURCHARGE_FLAT_MINOR: Final = 10_000
BASIS_POINTS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Charge:
    """A charge as the gateway told it. `order_named` and `settlement` are what metadata says, when it says something.

    `is_currency_literal` is false for a code in other letters than the gateway's own: its money stands under that currency, and
    whether it is worth that is for people to say. `fee_minor` is what the gateway kept of it, when it says so.
    """

    reference: str
    gateway_id: str | None
    amount_minor: int
    currency: str
    order_named: str | None
    settlement: str | None
    channel: str | None
    is_currency_literal: bool = True
    fee_minor: int = 0

    @property
    def identity(self) -> str:
        """Tells one charge from another under the same reference."""
        return self.reference if self.gateway_id is None else f"{self.reference}/{self.gateway_id}"


@dataclass(frozen=True, slots=True)
class Expected:
    """The order behind a reference of ours, and what our intent wrote as its settlement."""

    order_id: UUID
    total_minor: int
    settlement: str
    is_paid: bool


@dataclass(frozen=True, slots=True)
class SurchargeBound:
    """How much a charge may exceed its principal as the payer's part of the gateway's fee (contract section 7.4)."""

    basis_points_max: int
    minor_max: int

    def max_minor(self, principal_minor: int) -> int:
        """The smaller of the share of the principal with the flat part, and the absolute maximum; whole kobo, rounded down."""
        share_minor = principal_minor * self.basis_points_max // BASIS_POINTS
        return min(share_minor + SURCHARGE_FLAT_MINOR, self.minor_max)


@dataclass(frozen=True, slots=True)
class Covered:
    """The principal covers the order; `surplus` is owed back, `surcharge` was charged on top of the principal.

    A surcharge above its bound is no surcharge: all of it is part of the surplus.
    """

    escrow_minor: int
    surplus_minor: int
    surcharge_minor: int


@dataclass(frozen=True, slots=True)
class SecondCharge:
    """The order was paid before: all of it is owed back."""


@dataclass(frozen=True, slots=True)
class Underpaid:
    reason: ClassVar[str] = "underpaid"


@dataclass(frozen=True, slots=True)
class ForeignCurrency:
    reason: ClassVar[str] = "foreign_currency"


@dataclass(frozen=True, slots=True)
class OrderMismatch:
    reason: ClassVar[str] = "order_mismatch"


@dataclass(frozen=True, slots=True)
class UnknownReference:
    reason: ClassVar[str] = "unknown_reference"


Suspicious = Underpaid | ForeignCurrency | OrderMismatch | UnknownReference
Verdict = Covered | SecondCharge | Suspicious


def read_charge(data: Mapping[str, Any], webhook_id: str) -> Charge:
    """The charge of a `charge.success` body; raises NewsUnreadable when it tells no amount.

    A charge without a usable reference stands under the webhook's own id: its money must stand somewhere.
    """
    amount = data.get("amount")
    if isinstance(amount, bool) or not isinstance(amount, int) or not 0 < amount <= AMOUNT_MINOR_MAX:
        raise MalformedEvent("charge.success without a usable amount")
    metadata = fields_of(data.get("metadata"))
    named = metadata.get("orderId")
    settlement = metadata.get("settlement")
    return Charge(
        reference=text_of(data.get("reference")) or webhook_id,
        gateway_id=identifier_of(data.get("id")),
        amount_minor=amount,
        currency=_currency_of(data.get("currency")),
        is_currency_literal=_currency_of(data.get("currency")) == data.get("currency"),
        # An empty value names no order; any other one that is not the order's id disagrees with it.
        order_named=str(named) if named else None,
        settlement=settlement if isinstance(settlement, str) else None,
        channel=text_of(data.get("channel")),
        fee_minor=_fee_of(data.get("fees"), amount),
    )


def classify_charge(charge: Charge, expected: Expected | None, bound: SurchargeBound) -> Verdict:
    """What the charge is worth. Compared in kobo with the order's total; only naira pay (traps 1 to 3)."""
    if expected is None:
        return UnknownReference()
    if charge.currency != HOME_CURRENCY or not charge.is_currency_literal:
        return ForeignCurrency()
    if charge.order_named is not None and charge.order_named.lower() != str(expected.order_id):
        return OrderMismatch()
    principal_minor = principal_of(charge, expected.settlement)
    if principal_minor < expected.total_minor:
        return Underpaid()
    if expected.is_paid:
        return SecondCharge()
    surcharge_minor = charge.amount_minor - principal_minor
    if surcharge_minor > bound.max_minor(principal_minor):
        surcharge_minor = 0
    return Covered(
        escrow_minor=expected.total_minor,
        surplus_minor=charge.amount_minor - surcharge_minor - expected.total_minor,
        surcharge_minor=surcharge_minor,
    )


def principal_of(charge: Charge, settlement_written: str) -> int:
    """The amount, or the settlement of the metadata: all digits, not above the amount, and what our intent wrote."""
    settlement = charge.settlement
    if settlement is None or settlement != settlement_written or _DIGITS.fullmatch(settlement) is None:
        return charge.amount_minor
    return int(settlement) if int(settlement) <= charge.amount_minor else charge.amount_minor


def _fee_of(value: Any, amount_minor: int) -> int:
    """A whole number within the charge; anything else tells no fee, and the charge counts all the same."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= amount_minor else 0


def _currency_of(value: Any) -> str:
    """The ISO code in capitals, so that one currency has one account however its code is written."""
    return value.upper() if isinstance(value, str) and _CURRENCY.fullmatch(value) else NO_CURRENCY
