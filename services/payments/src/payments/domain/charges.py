"""Charges and their classification (contract section 7). Amounts in kobo."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Final, Literal, NamedTuple
from uuid import UUID

from payments.domain.accounts import HOME_CURRENCY
from payments.domain.balances import Parts as BalanceParts
from providers.gateways import PAYSTACK, GatewayName

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

    `is_currency_literal` is false for a currency code that is not in capitals: such a charge is posted in that
    currency, and staff decide whether it pays. `fee_minor` is the gateway's fee; 0 when it is not reported.
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
    """The payment that a reference of ours asks for, and the settlement that its intent recorded.

    `total_minor` is the sum of the intent's orders, `unpaid_minor` that of those without escrow. `order_ids` are the
    orders that the metadata may name: the intent's, and any of their purchase. `transfer_minor` is the amount that the
    charge's account requests; None where the gateway's page requests it. `balance_minor` is the part that the
    buyer's balance was to pay. Unless it `is_held`, it was returned, and `available_minor` is what the balance has now.
    """

    order_ids: frozenset[UUID]
    total_minor: int
    unpaid_minor: int
    settlement: str
    transfer_minor: int | None = None
    balance_minor: int = 0
    is_held: bool = False
    available_minor: int = 0


@dataclass(frozen=True, slots=True)
class SurchargeBound:
    """The maximum surcharge: the payer's part of the gateway's fee (contract section 7.4)."""

    basis_points_max: int
    minor_max: int

    def max_minor(self, principal_minor: int) -> int:
        """Return the smaller of share plus flat part and the absolute maximum; whole kobo, rounded down."""
        share_minor = principal_minor * self.basis_points_max // BASIS_POINTS
        return min(share_minor + SURCHARGE_FLAT_MINOR, self.minor_max)


class Surcharge(NamedTuple):
    """The surcharge of a charge in kobo, with the bound of its time, because settings change."""

    amount_minor: int = 0
    max_minor: int = 0


NO_SURCHARGE: Final = Surcharge()


@dataclass(frozen=True, slots=True)
class CoveringPayment:
    """The payment that covers orders; charge and channel are None where the balance alone pays.

    `shares` are the parts of the orders that the buyer's balance has paid.
    """

    reference: str
    charge_id: UUID | None = None
    channel: str | None = None
    shares: Mapping[UUID, BalanceParts] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Covered:
    """The principal covers the orders; the surplus is refunded, the surcharge was charged on top of the principal.

    A surcharge above its bound counts as surplus, and so does the total of an order that was paid before. Of a
    transfer to an account, all above the requested amount is surplus. The balance pays `balance_minor` of the escrow.
    """

    escrow_minor: int
    surplus_minor: int
    surcharge_minor: int
    balance_minor: int = 0


@dataclass(frozen=True, slots=True)
class SecondCharge:
    """The orders were paid before: all of the charge is refunded."""


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
    """Compare the charge in kobo with the total of its orders; only naira pay (traps 1 to 3)."""
    if expected is None:
        return UnknownReference()
    if charge.currency != HOME_CURRENCY or not charge.is_currency_literal:
        return ForeignCurrency()
    if charge.order_named is not None and charge.order_named.lower() not in map(str, expected.order_ids):
        return OrderMismatch()
    principal_minor = principal_of(charge, expected.settlement)
    if principal_minor + expected.balance_minor < expected.total_minor:
        return Underpaid()
    if not expected.unpaid_minor:
        return SecondCharge()
    balance_minor = _balance_needed(expected, principal_minor)
    if balance_minor > expected.available_minor:
        return Underpaid()
    surcharge_minor = charge.amount_minor - principal_minor
    if expected.transfer_minor is not None:
        surcharge_minor = min(surcharge_minor, max(expected.transfer_minor - principal_minor, 0))
    if surcharge_minor > bound.max_minor(principal_minor):
        surcharge_minor = 0
    return Covered(
        escrow_minor=expected.unpaid_minor,
        surplus_minor=charge.amount_minor - surcharge_minor - (expected.unpaid_minor - balance_minor),
        surcharge_minor=surcharge_minor,
        balance_minor=balance_minor,
    )


def _balance_needed(expected: ExpectedPayment, principal_minor: int) -> int:
    """Return the part that the balance pays: what is held, or after its return what the charge leaves unpaid."""
    if expected.is_held:
        return min(expected.balance_minor, expected.unpaid_minor)
    return max(expected.unpaid_minor - principal_minor, 0)


def principal_of(charge: Charge, settlement_recorded: str) -> int:
    """Return the metadata's settlement when it is the intent's, all digits and at most the amount; else the amount."""
    settlement = charge.settlement
    if settlement is None or settlement != settlement_recorded or _DIGITS.fullmatch(settlement) is None:
        return charge.amount_minor
    return min(int(settlement), charge.amount_minor)
