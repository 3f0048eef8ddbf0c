"""Charges and their classification (contract section 7). Amounts in kobo."""

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
# The flat part of a gateway's fee, which a payer may bear in addition to the share (contract section 7.4).
SURCHARGE_FLAT_MINOR: Final = 10_000
BASIS_POINTS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Charge:
    """A charge as the gateway reported it. `order_named` and `settlement` come from its metadata.

    `is_currency_literal` is false for a currency code that is not in capitals: such a charge is posted in that currency, and people
    decide whether it pays. `fee_minor` is the gateway's fee; 0 when it is not reported.
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
        """Unique for charges under the same reference."""
        return self.reference if self.gateway_id is None else f"{self.reference}/{self.gateway_id}"


@dataclass(frozen=True, slots=True)
class ExpectedPayment:
    """The order of one of our references, and the settlement that our intent recorded."""

    order_id: UUID
    total_minor: int
    settlement: str
    is_paid: bool


@dataclass(frozen=True, slots=True)
class SurchargeBound:
    """The maximum surcharge: the payer's part of the gateway's fee (contract section 7.4)."""

    basis_points_max: int
    minor_max: int

    def max_minor(self, principal_minor: int) -> int:
        """The smaller of share plus flat part and the absolute maximum; whole kobo, rounded down."""
        share_minor = principal_minor * self.basis_points_max // BASIS_POINTS
        return min(share_minor + SURCHARGE_FLAT_MINOR, self.minor_max)


@dataclass(frozen=True, slots=True)
class Covered:
    """The principal covers the order; the surplus is refunded, the surcharge was charged on top of the principal.

    A surcharge above its bound counts as surplus.
    """

    escrow_minor: int
    surplus_minor: int
    surcharge_minor: int


@dataclass(frozen=True, slots=True)
class SecondCharge:
    """The order was paid before: all of the charge is refunded."""


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
    """Parse a `charge.success` body. Raises MalformedEvent without a usable amount.

    A charge without a usable reference gets the webhook's id as its reference, so that its money is posted.
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
        # An empty value names no order. Any other value must be the order's id.
        order_named=str(named) if named else None,
        settlement=settlement if isinstance(settlement, str) else None,
        channel=text_of(data.get("channel")),
        fee_minor=_fee_of(data.get("fees"), amount),
    )


def classify_charge(charge: Charge, expected: ExpectedPayment | None, bound: SurchargeBound) -> Verdict:
    """Compare the charge in kobo with the order's total; only naira pay (traps 1 to 3)."""
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


def principal_of(charge: Charge, settlement_recorded: str) -> int:
    """The metadata's settlement when it is the intent's, all digits and at most the amount; else the amount."""
    settlement = charge.settlement
    if settlement is None or settlement != settlement_recorded or _DIGITS.fullmatch(settlement) is None:
        return charge.amount_minor
    return int(settlement) if int(settlement) <= charge.amount_minor else charge.amount_minor


def _fee_of(value: Any, amount_minor: int) -> int:
    """A whole number within the charge; anything else counts as no fee."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= amount_minor else 0


def _currency_of(value: Any) -> str:
    """The ISO code in capitals: one currency has one account."""
    return value.upper() if isinstance(value, str) and _CURRENCY.fullmatch(value) else NO_CURRENCY
