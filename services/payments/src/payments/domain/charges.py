"""Charges and their classification (contract section 7). Amounts in kobo."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final, Literal
from uuid import UUID

from payments.domain.accounts import HOME_CURRENCY
from payments.domain.gateways import PAYSTACK, GatewayName

# `pending` is unpaid and undecided; `reversed` was paid, and refunded as a whole.
ChargeStatus = Literal["success", "failed", "pending", "reversed"]
QuarantineReason = Literal["underpaid", "foreign_currency", "order_mismatch", "unknown_reference"]

_DIGITS: Final = re.compile(r"[0-9]{1,18}", re.ASCII)
# The flat part of a gateway's fee, which a payer may bear in addition to the share (contract section 7.4).
SURCHARGE_FLAT_MINOR: Final = 10_000
BASIS_POINTS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Charge:
    """A charge as the gateway reported it. `order_named` and `settlement` come from its metadata.

    The amount of a charge that did not succeed is 0 when it is not reported.

    `is_currency_literal` is false for a currency code that is not in capitals: such a charge is posted in that currency, and staff
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
    status: ChargeStatus = "success"
    paid_at: datetime | None = None
    failure_reason: str | None = None
    gateway: GatewayName = PAYSTACK

    @property
    def was_paid(self) -> bool:
        return self.status in ("success", "reversed")

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
        """Return the smaller of share plus flat part and the absolute maximum; whole kobo, rounded down."""
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
    reason: ClassVar[QuarantineReason] = "underpaid"


@dataclass(frozen=True, slots=True)
class ForeignCurrency:
    reason: ClassVar[QuarantineReason] = "foreign_currency"


@dataclass(frozen=True, slots=True)
class OrderMismatch:
    reason: ClassVar[QuarantineReason] = "order_mismatch"


@dataclass(frozen=True, slots=True)
class UnknownReference:
    reason: ClassVar[QuarantineReason] = "unknown_reference"


Suspicious = Underpaid | ForeignCurrency | OrderMismatch | UnknownReference
Verdict = Covered | SecondCharge | Suspicious


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
    """Return the metadata's settlement when it is the intent's, all digits and at most the amount; else the amount."""
    settlement = charge.settlement
    if settlement is None or settlement != settlement_recorded or _DIGITS.fullmatch(settlement) is None:
        return charge.amount_minor
    return min(int(settlement), charge.amount_minor)
