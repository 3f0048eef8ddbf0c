"""Movements of a vendor's wallet, as statement lines whose net amounts sum to the balance (contract section 8)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from payouts.domain.errors import (
    AmountAboveWallet,
    BankDetailsQuarantined,
    BankDetailsUnverified,
    BelowMinimum,
    DebtOutstanding,
    EscrowLocked,
    RemainderPayable,
    VendorSuspended,
    WaiverNotWholeRemainder,
    WalletUnsettled,
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
    "waiver",
]


# The open matter of a wallet with less than the smallest transfer: only its vendor can end it, by a waiver.
WALLET_REMAINDER: Final = "wallet_remainder"


@dataclass(frozen=True, slots=True)
class WalletLine:
    """A statement line before it is written; `net_minor` is its effect on the balance, in kobo."""

    kind: LineKind
    net_minor: int
    order_id: UUID | None = None
    payout_id: UUID | None = None
    gross_minor: int | None = None
    commission_minor: int | None = None
    delivery_fee_minor: int | None = None


@dataclass(frozen=True, slots=True)
class Release:
    """A release from escrow for an order, in kobo; `id` is the release's own."""

    id: UUID
    order_id: UUID
    vendor_id: UUID
    gross_minor: int
    commission_minor: int
    delivery_fee_minor: int
    net_minor: int


@dataclass(frozen=True, slots=True)
class Refund:
    """A refund of an order, in kobo; `from_vendor_minor` is the vendor's part (0 while all was in escrow)."""

    id: UUID
    order_id: UUID
    vendor_id: UUID
    amount_minor: int
    from_vendor_minor: int


@dataclass(frozen=True, slots=True)
class WalletSnapshot:
    """A vendor's wallet in kobo, the state of its bank details, and whether staff suspended the vendor."""

    available_minor: int
    debt_minor: int
    locked_minor: int
    bank_details_version_id: UUID | None
    bank_details_verified: bool
    suspended: bool = False
    bank_details_quarantined: bool = False


def with_balances(available_minor: int, lines: list[WalletLine]) -> Iterator[tuple[WalletLine, int]]:
    """Yields each line with the balance after it."""
    balance = available_minor
    for line in lines:
        balance += line.net_minor
        yield line, balance


def repayment(debt_minor: int, net_minor: int) -> int:
    """Returns how much of a credit repays debt: debt is repaid first."""
    return min(debt_minor, net_minor)


def shortfall(available_minor: int, from_vendor_minor: int) -> int:
    """Returns the shortfall of the wallet for a debit, which becomes debt of the vendor."""
    return max(0, from_vendor_minor - available_minor)


def check_payout_request(wallet: WalletSnapshot, amount_minor: int, minimum_minor: int = 1) -> UUID:
    """Returns the version of the bank details for the payout. Raises the error that the contract orders first (section
    8).

    Errors that another amount would not avoid come first: suspension, debt, quarantined or unverified details. A vendor
    with debt has an empty wallet and should see that reason.
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


def check_waiver(wallet: WalletSnapshot, open_matters: Sequence[str], amount_minor: int, minimum_minor: int) -> None:
    """Raises the error for a remainder that its vendor may not give up, because it can be paid out now or later.

    `amount_minor` is the remainder as the vendor saw it, `minimum_minor` the smallest transfer, in kobo.
    """
    if wallet.suspended:
        raise VendorSuspended
    if wallet.available_minor >= minimum_minor:
        raise RemainderPayable(minimum_minor)
    others = [matter for matter in open_matters if matter != WALLET_REMAINDER]
    if others:
        raise WalletUnsettled(others)
    if amount_minor != wallet.available_minor:
        raise WaiverNotWholeRemainder.of("amountMinor", f"must be the whole remainder, {wallet.available_minor} kobo")
