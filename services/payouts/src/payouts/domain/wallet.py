"""What moves a vendor's wallet, as statement lines whose nets always sum to the balance (contract section 8)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from payouts.domain.errors import (
    AmountAboveWallet,
    BankDetailsQuarantined,
    BankDetailsUnverified,
    BelowMinimum,
    DebtOutstanding,
    EscrowLocked,
    VendorSuspended,
)

LineKind = Literal[
    "release",
    "debt_repaid",
    "refund",
    "debt_taken",
    "payout",
    "hold",
    "hold_released",
    "chargeback",
    "chargeback_won",
    "restitution",
    "reversal",
    "recovery",
    "recovery_returned",
    "correction",
]


@dataclass(frozen=True, slots=True)
class WalletLine:
    """One line of a statement before it is written; `net_minor` is its effect on the balance, in kobo."""

    kind: LineKind
    net_minor: int
    order_id: UUID | None = None
    payout_id: UUID | None = None
    gross_minor: int | None = None
    commission_minor: int | None = None
    delivery_fee_minor: int | None = None


@dataclass(frozen=True, slots=True)
class Release:
    """What escrow handed over for an order, in kobo; `id` is the release's own."""

    id: UUID
    order_id: UUID
    vendor_id: UUID
    gross_minor: int
    commission_minor: int
    delivery_fee_minor: int
    net_minor: int


@dataclass(frozen=True, slots=True)
class Refund:
    """A refund of an order, in kobo; `from_vendor_minor` left the vendor's earnings (0 while all was in escrow)."""

    id: UUID
    order_id: UUID
    vendor_id: UUID
    amount_minor: int
    from_vendor_minor: int


@dataclass(frozen=True, slots=True)
class WalletSnapshot:
    """What a vendor's wallet holds, in kobo, whether payouts have somewhere to go, and whether staff hold them."""

    available_minor: int
    debt_minor: int
    locked_minor: int
    bank_details_version_id: UUID | None
    bank_details_verified: bool
    suspended: bool = False
    bank_details_quarantined: bool = False


def with_balances(available_minor: int, lines: list[WalletLine]) -> Iterator[tuple[WalletLine, int]]:
    """Each line with the running balance after it."""
    balance = available_minor
    for line in lines:
        balance += line.net_minor
        yield line, balance


def repayment(debt_minor: int, net_minor: int) -> int:
    """How much of a release repays debt: debt comes first."""
    return min(debt_minor, net_minor)


def shortfall(available_minor: int, from_vendor_minor: int) -> int:
    """How much of a refund the wallet cannot give, and the vendor owes from then on."""
    return max(0, from_vendor_minor - available_minor)


def check_payout_request(wallet: WalletSnapshot, amount_minor: int, minimum_minor: int = 1) -> UUID:
    """The bank details that the payout will go to; raises the refusal that the contract orders first (section 8).

    What no other amount would mend (suspension, debt, details that are quarantined or unverified) comes first: a wallet that
    owes is empty, and its owner should hear why.
    """
    if wallet.suspended:
        raise VendorSuspended
    if wallet.debt_minor > 0:
        raise DebtOutstanding
    if wallet.bank_details_quarantined:
        raise BankDetailsQuarantined
    if wallet.bank_details_version_id is None or not wallet.bank_details_verified:
        raise BankDetailsUnverified
    if amount_minor < minimum_minor:
        raise BelowMinimum.for_parameter("amountMinor", minimum_minor)
    if amount_minor > wallet.available_minor + wallet.locked_minor:
        raise AmountAboveWallet.of("amountMinor", "more than the wallet and the escrow hold together")
    if amount_minor > wallet.available_minor:
        raise EscrowLocked
    return wallet.bank_details_version_id
