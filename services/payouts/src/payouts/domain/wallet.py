"""Movements of a vendor's wallet, as statement lines whose net amounts sum to the balance (contract section 8)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple
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
    # Commission and fee are in proportion to the order's releases, because the event did not state them.
    is_estimated: bool = False


class Movement(NamedTuple):
    """Money of an order that reached its receivers, by owner, in kobo; below zero, it was taken back from them.

    `net_minor` is the wallet's. Events of the version before state the net amount only: the other parts are None.
    """

    net_minor: int = 0
    commission_minor: int | None = None
    delivery_fee_minor: int | None = None

    def negated(self) -> "Movement":
        commission_minor, fee_minor = self.commission_minor, self.delivery_fee_minor
        return Movement(
            -self.net_minor,
            None if commission_minor is None else -commission_minor,
            None if fee_minor is None else -fee_minor,
        )


NO_MOVEMENT: Final = Movement()


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
    """A refund of an order; `reversed` is what it takes back from the receivers of releases (nothing while all was in
    escrow).
    """

    id: UUID
    order_id: UUID
    vendor_id: UUID
    reversed: Movement


@dataclass(frozen=True, slots=True)
class WalletSnapshot:
    """A vendor's wallet in kobo, the state of its bank details, and whether staff suspended the vendor.

    `transfer_contradicted`: money that may have been paid twice waits for a decision.
    """

    available_minor: int
    debt_minor: int
    locked_minor: int
    bank_details_version_id: UUID | None
    bank_details_verified: bool
    suspended: bool = False
    bank_details_quarantined: bool = False
    transfer_contradicted: bool = False


def line_of_movement(kind: LineKind, order_id: UUID, movement: Movement, released: Movement) -> WalletLine:
    """Return the line of an order's movement: gross less commission and delivery fee is net.

    `released` is the sum of the order's releases, to which parts that the event does not state are in proportion.
    """
    net_minor, commission_minor, fee_minor = movement
    is_estimated = commission_minor is None or fee_minor is None
    if commission_minor is None or fee_minor is None:
        commission_minor = _in_proportion(net_minor, released.commission_minor, released.net_minor)
        fee_minor = _in_proportion(net_minor, released.delivery_fee_minor, released.net_minor)
    gross_minor = net_minor + commission_minor + fee_minor
    return WalletLine(
        kind,
        net_minor,
        order_id,
        gross_minor=gross_minor,
        commission_minor=commission_minor,
        delivery_fee_minor=fee_minor,
        is_estimated=is_estimated,
    )


def _in_proportion(net_minor: int, part_minor: int | None, whole_minor: int) -> int:
    """Return the part in proportion, rounded to the nearest kobo, with the sign of `net_minor`."""
    if not part_minor or not whole_minor:
        return 0
    share_minor = (2 * abs(net_minor) * part_minor + whole_minor) // (2 * whole_minor)
    return share_minor if net_minor > 0 else -share_minor


def with_balances(available_minor: int, lines: list[WalletLine]) -> Iterator[tuple[WalletLine, int]]:
    """Yield each line with the balance after it."""
    balance = available_minor
    for line in lines:
        balance += line.net_minor
        yield line, balance


def repayment(debt_minor: int, net_minor: int) -> int:
    """Return how much of a credit repays debt: debt is repaid first."""
    return min(debt_minor, net_minor)


def shortfall(available_minor: int, from_vendor_minor: int) -> int:
    """Return the shortfall of the wallet for a debit, which becomes debt of the vendor."""
    return max(0, from_vendor_minor - available_minor)


def check_payout_request(wallet: WalletSnapshot, amount_minor: int, minimum_minor: int = 1) -> UUID:
    """Return the version of the bank details for the payout. Raises the error that the contract orders first (section
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
    """Raise the error for a remainder that its vendor may not give up, because it can be paid out now or later.

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
