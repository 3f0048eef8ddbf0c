"""The entries of each posting of the wallets' ledger, with their accounts. Kobo, debit positive."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from common.ledger.posting import Account, Posting
from payouts.domain import accounts
from payouts.domain.accounts import Recovery
from testkit.cases import for_each

VENDOR, PAYOUT, TRANSFER = UUID(int=1), UUID(int=2), UUID(int=3)

# Name, normal side, guarded. Accounts of one vendor or payout never fall below zero.
WALLET = Account(f"wallet:{VENDOR}", "credit", True)
DEBT = Account(f"vendor_debt:{VENDOR}", "debit", True)
HELD = Account(f"held:{VENDOR}", "credit", True)
IN_TRANSIT = Account(f"in_transit:{PAYOUT}", "credit", True)
# The platform's accounts have entries of all vendors: a guard would make their postings wait for each other.
ESCROW = Account("escrow_released", "debit", False)
CASH = Account("gateway_cash", "debit", False)
FEES = Account("transfer_fees", "debit", False)
WAIVED = Account("waived_balances", "credit", False)

# function, arguments -> type, its key, entries
POSTINGS = [
    # Credits: the debt first, the rest to the wallet.
    (accounts.release, ("k", VENDOR, 701, 0), "release", "k", {ESCROW: 701, WALLET: -701}),
    (accounts.release, ("k", VENDOR, 701, 200), "release", "k", {ESCROW: 701, DEBT: -200, WALLET: -501}),
    (accounts.release, ("k", VENDOR, 701, 701), "release", "k", {ESCROW: 701, DEBT: -701}),
    (accounts.hold_released, ("k", VENDOR, 701, 200), "hold_released", "k", {HELD: 701, DEBT: -200, WALLET: -501}),
    (accounts.chargeback_won, ("k", VENDOR, 701, 200), "chargeback_won", "k", {ESCROW: 701, DEBT: -200, WALLET: -501}),
    (
        accounts.restitution, (PAYOUT, VENDOR, 701, 200),
        "restitution", f"restitution:{PAYOUT}", {IN_TRANSIT: 701, DEBT: -200, WALLET: -501},
    ),
    (
        accounts.reversal, (PAYOUT, VENDOR, 701, 200),
        "reversal", f"reversal:{PAYOUT}", {CASH: 701, DEBT: -200, WALLET: -501},
    ),
    (
        accounts.recovery_returned, (Recovery(TRANSFER), VENDOR, 701, 200),
        "recovery_returned", f"recovery_returned:{TRANSFER}", {CASH: 701, DEBT: -200, WALLET: -501},
    ),
    # Debits: the wallet first, its shortfall becomes debt.
    (accounts.refund, ("k", VENDOR, 701, 0), "refund", "k", {WALLET: 701, ESCROW: -701}),
    (accounts.refund, ("k", VENDOR, 701, 200), "refund", "k", {WALLET: 501, DEBT: 200, ESCROW: -701}),
    (accounts.refund, ("k", VENDOR, 701, 701), "refund", "k", {DEBT: 701, ESCROW: -701}),
    (accounts.chargeback, ("k", VENDOR, 701, 200), "chargeback", "k", {WALLET: 501, DEBT: 200, ESCROW: -701}),
    (
        accounts.recovery, (Recovery(TRANSFER), VENDOR, 701, 200),
        "recovery", f"recovery:{TRANSFER}", {WALLET: 501, DEBT: 200, CASH: -701},
    ),
    (
        accounts.recovery, (Recovery(TRANSFER, 2), VENDOR, 701, 0),
        "recovery", f"recovery:{TRANSFER}:2", {WALLET: 701, CASH: -701},
    ),
    (accounts.hold, ("k", VENDOR, 701), "hold", "k", {WALLET: 701, HELD: -701}),
    (accounts.waiver, ("k", VENDOR, 701), "waiver", "k", {WALLET: 701, WAIVED: -701}),
    (accounts.payout_requested, (PAYOUT, VENDOR, 701), "payout", f"payout:{PAYOUT}", {WALLET: 701, IN_TRANSIT: -701}),
    # A payout that was found at the gateway, above the wallet.
    (
        accounts.payout_requested, (PAYOUT, VENDOR, 701, 200),
        "payout", f"payout:{PAYOUT}", {WALLET: 501, DEBT: 200, IN_TRANSIT: -701},
    ),
    # A surplus leaves the wallet; what the wallet lacks becomes debt, from the first kobo on.
    (accounts.correction, ("k", VENDOR, 701, 0), "correction", "k", {WALLET: 701, ESCROW: -701}),
    (accounts.correction, ("k", VENDOR, 701, 200), "correction", "k", {WALLET: 501, DEBT: 200, ESCROW: -701}),
    (accounts.correction, ("k", VENDOR, 1, 1), "correction", "k", {DEBT: 1, ESCROW: -1}),
    # What is missing is added; debt is repaid first.
    (accounts.correction, ("k", VENDOR, -701, 0), "correction", "k", {WALLET: -701, ESCROW: 701}),
    (accounts.correction, ("k", VENDOR, -701, 200), "correction", "k", {WALLET: -501, DEBT: -200, ESCROW: 701}),
    (accounts.correction, ("k", VENDOR, -1, 1), "correction", "k", {DEBT: -1, ESCROW: 1}),
    # Between the platform's own accounts.
    (
        accounts.payout_processed, (PAYOUT, 701),
        "payout_processed", f"payout_processed:{PAYOUT}", {IN_TRANSIT: 701, CASH: -701},
    ),
    (accounts.transfer_fee, ("k", 701), "transfer_fee", "k", {FEES: 701, CASH: -701}),
    (accounts.transfer_fee, ("k", -701), "transfer_fee", "k", {FEES: -701, CASH: 701}),
]  # fmt: skip


@for_each(("posting_of", "arguments", "type_", "key", "entries"), POSTINGS)
def test_a_posting_has_the_entries_of_its_type(
    posting_of: Callable[..., Posting], arguments: tuple[Any, ...], type_: str, key: str, entries: dict[Account, int]
) -> None:
    posting = posting_of(*arguments)
    assert (posting.type, posting.key, posting.currency) == (type_, key, "NGN")
    assert {entry.account: entry.amount_minor for entry in posting.entries} == entries
