"""The accounts and postings of the wallets' ledger. Kobo, debit positive.

| Account | Normal side | Balance |
|---|---|---|
| `wallet:<vendor>` | credit, guarded | what the vendor may withdraw |
| `in_transit:<payout>` | credit, guarded | requested, and not yet known to have left |
| `held:<vendor>` | credit, guarded | the part of the wallet that a disputed charge holds |
| `vendor_debt:<vendor>` | debit, guarded | what the vendor owes after a refund or chargeback found the wallet empty |
| `escrow_released` | debit | what payments released: **equal to the sum of the credit balances of its `vendor_payable:*`** |
| `gateway_cash` | debit | minus what left through the gateway; plus payments' `gateway_cash` it is the gateway's own balance |

Both equalities are exact: `balance(escrow_released) == sum(balance(vendor_payable:*))` with each account on its normal
side, and `sum of the gateway_cash entries of both ledgers == balance at the gateway`.
"""

from typing import Final
from uuid import UUID

from common.ledger.posting import Account, Posting, balanced, credit, debit

ESCROW_RELEASED: Final = Account("escrow_released", "debit", guarded=False)
GATEWAY_CASH: Final = Account("gateway_cash", "debit", guarded=False)


def wallet(vendor_id: UUID) -> Account:
    return Account(f"wallet:{vendor_id}", "credit", guarded=True)


def held(vendor_id: UUID) -> Account:
    return Account(f"held:{vendor_id}", "credit", guarded=True)


def in_transit(payout_id: UUID) -> Account:
    return Account(f"in_transit:{payout_id}", "credit", guarded=True)


def vendor_debt(vendor_id: UUID) -> Account:
    return Account(f"vendor_debt:{vendor_id}", "debit", guarded=True)


def release(key: str, vendor_id: UUID, net_minor: int, repaid_minor: int) -> Posting:
    """A release of `net_minor`; `repaid_minor` of it repays the vendor's debt."""
    return balanced(
        key,
        "release",
        [
            debit(ESCROW_RELEASED, net_minor),
            credit(vendor_debt(vendor_id), repaid_minor),
            credit(wallet(vendor_id), net_minor - repaid_minor),
        ],
    )


def refund(key: str, vendor_id: UUID, from_vendor_minor: int, shortfall_minor: int) -> Posting:
    """A refund after release: `from_vendor_minor`, of which the wallet lacks `shortfall_minor`."""
    return balanced(
        key,
        "refund",
        [
            debit(wallet(vendor_id), from_vendor_minor - shortfall_minor),
            debit(vendor_debt(vendor_id), shortfall_minor),
            credit(ESCROW_RELEASED, from_vendor_minor),
        ],
    )


def hold(key: str, vendor_id: UUID, amount_minor: int) -> Posting:
    """Moves a disputed amount from the wallet to its hold."""
    return balanced(key, "hold", [debit(wallet(vendor_id), amount_minor), credit(held(vendor_id), amount_minor)])


def hold_released(key: str, vendor_id: UUID, held_minor: int, repaid_minor: int) -> Posting:
    """Returns a hold to the wallet; debt is repaid first."""
    return balanced(
        key,
        "hold_released",
        [
            debit(held(vendor_id), held_minor),
            credit(vendor_debt(vendor_id), repaid_minor),
            credit(wallet(vendor_id), held_minor - repaid_minor),
        ],
    )


def chargeback(key: str, vendor_id: UUID, from_vendor_minor: int, shortfall_minor: int) -> Posting:
    """A lost chargeback after release: `from_vendor_minor`, of which the wallet lacks `shortfall_minor`."""
    return balanced(
        key,
        "chargeback",
        [
            debit(wallet(vendor_id), from_vendor_minor - shortfall_minor),
            debit(vendor_debt(vendor_id), shortfall_minor),
            credit(ESCROW_RELEASED, from_vendor_minor),
        ],
    )


def chargeback_won(key: str, vendor_id: UUID, to_vendor_minor: int, repaid_minor: int) -> Posting:
    """A lost chargeback that was won later: the vendor's part returns, debt is repaid first."""
    return balanced(
        key,
        "chargeback_won",
        [
            debit(ESCROW_RELEASED, to_vendor_minor),
            credit(vendor_debt(vendor_id), repaid_minor),
            credit(wallet(vendor_id), to_vendor_minor - repaid_minor),
        ],
    )


def correction(key: str, vendor_id: UUID, surplus_minor: int, settled_minor: int) -> Posting:
    """Makes the wallet equal to what payments released: takes a surplus back, or adds what is missing (below zero).

    `settled_minor` is the part that changes the debt: what the wallet lacks of a surplus, or what the addition repays.
    """
    from_wallet_minor = surplus_minor - settled_minor if surplus_minor > 0 else surplus_minor + settled_minor
    shortfall_minor = settled_minor if surplus_minor > 0 else -settled_minor
    return balanced(
        key,
        "correction",
        [
            debit(wallet(vendor_id), from_wallet_minor),
            debit(vendor_debt(vendor_id), shortfall_minor),
            credit(ESCROW_RELEASED, surplus_minor),
        ],
    )


def payout_requested(payout_id: UUID, vendor_id: UUID, amount_minor: int) -> Posting:
    return balanced(
        f"payout:{payout_id}",
        "payout",
        [debit(wallet(vendor_id), amount_minor), credit(in_transit(payout_id), amount_minor)],
    )


def payout_found(payout_id: UUID, vendor_id: UUID, amount_minor: int, shortfall_minor: int) -> Posting:
    """A payout known only at the gateway. The wallet lacks `shortfall_minor` of it, which becomes debt."""
    return balanced(
        f"payout:{payout_id}",
        "payout",
        [
            debit(wallet(vendor_id), amount_minor - shortfall_minor),
            debit(vendor_debt(vendor_id), shortfall_minor),
            credit(in_transit(payout_id), amount_minor),
        ],
    )


def payout_processed(payout_id: UUID, amount_minor: int) -> Posting:
    return balanced(
        f"payout_processed:{payout_id}",
        "payout_processed",
        [debit(in_transit(payout_id), amount_minor), credit(GATEWAY_CASH, amount_minor)],
    )


def restitution(payout_id: UUID, vendor_id: UUID, amount_minor: int, repaid_minor: int) -> Posting:
    """Returns an unpaid payout to the wallet; `repaid_minor` of it repays debt."""
    return balanced(
        f"restitution:{payout_id}",
        "restitution",
        [
            debit(in_transit(payout_id), amount_minor),
            credit(vendor_debt(vendor_id), repaid_minor),
            credit(wallet(vendor_id), amount_minor - repaid_minor),
        ],
    )


def reversal(payout_id: UUID, vendor_id: UUID, amount_minor: int, repaid_minor: int) -> Posting:
    """Returns a paid payout that came back; `repaid_minor` of it repays debt."""
    return balanced(
        f"reversal:{payout_id}",
        "reversal",
        [
            debit(GATEWAY_CASH, amount_minor),
            credit(vendor_debt(vendor_id), repaid_minor),
            credit(wallet(vendor_id), amount_minor - repaid_minor),
        ],
    )


def recovery_returned(transfer_id: UUID, vendor_id: UUID, amount_minor: int, repaid_minor: int) -> Posting:
    """Returns a recovery whose transfer came back; `repaid_minor` of it repays debt."""
    return balanced(
        f"recovery_returned:{transfer_id}",
        "recovery_returned",
        [
            debit(GATEWAY_CASH, amount_minor),
            credit(vendor_debt(vendor_id), repaid_minor),
            credit(wallet(vendor_id), amount_minor - repaid_minor),
        ],
    )


def recovery(transfer_id: UUID, vendor_id: UUID, amount_minor: int, shortfall_minor: int) -> Posting:
    """Takes back an unrecorded transfer from its vendor; `shortfall_minor` becomes debt."""
    return balanced(
        f"recovery:{transfer_id}",
        "recovery",
        [
            debit(wallet(vendor_id), amount_minor - shortfall_minor),
            debit(vendor_debt(vendor_id), shortfall_minor),
            credit(GATEWAY_CASH, amount_minor),
        ],
    )
