"""The accounts and postings of the wallets' ledger. Kobo, debit positive.

| Account | Normal side | Balance |
|---|---|---|
| `wallet:<vendor>` | credit, guarded | what the vendor may withdraw |
| `in_transit:<payout>` | credit, guarded | requested, and not yet known to have left |
| `held:<vendor>` | credit, guarded | the part of the wallet that disputed charges and contradicted transfers hold |
| `vendor_debt:<vendor>` | debit, guarded | the vendor's debt after a refund or chargeback that exceeded the wallet |
| `escrow_released` | debit | what payments released: **equal to the sum of the balances of its `vendor_payable:*`** |
| `gateway_cash` | debit | minus what left by the gateway; with payments' `gateway_cash` the gateway's own balance |
| `waived_balances` | credit | remainders below the smallest transfer that vendors gave up (decision 46) |
| `transfer_fees` | debit | what the gateway charged for transfers, as it reported |

Both equalities are exact: `balance(escrow_released) == sum(balance(vendor_payable:*))` with each account on its normal
side, and `sum of the gateway_cash entries of both ledgers == balance at the gateway`.
"""

from typing import Final, Literal, NamedTuple
from uuid import UUID

from common.ledger.posting import Account, Entry, Posting, balanced, credit, debit

TransactionType = Literal[
    "release",
    "refund",
    "hold",
    "hold_released",
    "chargeback",
    "chargeback_won",
    "correction",
    "waiver",
    "payout",
    "payout_processed",
    "transfer_fee",
    "restitution",
    "reversal",
    "recovery",
    "recovery_returned",
    "transfer_hold",
]

ESCROW_RELEASED: Final = Account("escrow_released", "debit", guarded=False)
GATEWAY_CASH: Final = Account("gateway_cash", "debit", guarded=False)
TRANSFER_FEES: Final = Account("transfer_fees", "debit", guarded=False)
WAIVED_BALANCES: Final = Account("waived_balances", "credit", guarded=False)


class Recovery(NamedTuple):
    """One recovery of a transfer; `number` counts those of the same transfer from 1.

    The next one begins after the return of the one before, so its key admits one posting of each direction.
    """

    transfer_id: UUID
    number: int = 1

    def __str__(self) -> str:
        return str(self.transfer_id) if self.number == 1 else f"{self.transfer_id}:{self.number}"


def wallet(vendor_id: UUID) -> Account:
    return Account(f"wallet:{vendor_id}", "credit", guarded=True)


def held(vendor_id: UUID) -> Account:
    return Account(f"held:{vendor_id}", "credit", guarded=True)


def in_transit(payout_id: UUID) -> Account:
    return Account(f"in_transit:{payout_id}", "credit", guarded=True)


def vendor_debt(vendor_id: UUID) -> Account:
    return Account(f"vendor_debt:{vendor_id}", "debit", guarded=True)


def release(key: str, vendor_id: UUID, net_minor: int, repaid_minor: int) -> Posting:
    """Return a release of `net_minor`; `repaid_minor` of it repays the vendor's debt."""
    return _credit("release", key, ESCROW_RELEASED, vendor_id, net_minor, repaid_minor)


def refund(key: str, vendor_id: UUID, from_vendor_minor: int, shortfall_minor: int) -> Posting:
    """Return a refund after release: `from_vendor_minor`, of which the wallet lacks `shortfall_minor`."""
    return _debit("refund", key, ESCROW_RELEASED, vendor_id, from_vendor_minor, shortfall_minor)


def hold(key: str, vendor_id: UUID, amount_minor: int) -> Posting:
    """Move a disputed amount from the wallet to its hold."""
    return _debit("hold", key, held(vendor_id), vendor_id, amount_minor)


def hold_released(key: str, vendor_id: UUID, held_minor: int, repaid_minor: int) -> Posting:
    """Return a hold to the wallet; debt is repaid first."""
    return _credit("hold_released", key, held(vendor_id), vendor_id, held_minor, repaid_minor)


def chargeback(key: str, vendor_id: UUID, from_vendor_minor: int, shortfall_minor: int) -> Posting:
    """Return a lost chargeback after release: `from_vendor_minor`, of which the wallet lacks `shortfall_minor`."""
    return _debit("chargeback", key, ESCROW_RELEASED, vendor_id, from_vendor_minor, shortfall_minor)


def chargeback_won(key: str, vendor_id: UUID, to_vendor_minor: int, repaid_minor: int) -> Posting:
    """Return a lost chargeback that was won later: the vendor's part returns, debt is repaid first."""
    return _credit("chargeback_won", key, ESCROW_RELEASED, vendor_id, to_vendor_minor, repaid_minor)


def correction(key: str, vendor_id: UUID, surplus_minor: int, settled_minor: int) -> Posting:
    """Make the wallet equal to the releases of payments: debits a surplus, or adds a shortfall (below zero).

    `settled_minor` is the part that changes the debt: what the wallet lacks of a surplus, or what the addition repays.
    """
    debt_minor = settled_minor if surplus_minor > 0 else -settled_minor
    return _debit("correction", key, ESCROW_RELEASED, vendor_id, surplus_minor, debt_minor)


def waiver(key: str, vendor_id: UUID, amount_minor: int, shortfall_minor: int = 0) -> Posting:
    """Move a remainder that the vendor gave up from the wallet to the platform."""
    return _debit("waiver", key, WAIVED_BALANCES, vendor_id, amount_minor, shortfall_minor)


def payout_requested(payout_id: UUID, vendor_id: UUID, amount_minor: int, shortfall_minor: int = 0) -> Posting:
    """Move a payout into transit. The wallet lacks `shortfall_minor` only of a payout that was found at the gateway."""
    return _debit("payout", f"payout:{payout_id}", in_transit(payout_id), vendor_id, amount_minor, shortfall_minor)


def payout_processed(payout_id: UUID, amount_minor: int) -> Posting:
    """Return a paid payout: in transit becomes gateway cash."""
    entries = [debit(in_transit(payout_id), amount_minor), credit(GATEWAY_CASH, amount_minor)]
    return _posting("payout_processed", f"payout_processed:{payout_id}", entries)


def transfer_fee(key: str, added_minor: int) -> Posting:
    """Return a fee of the gateway, debited to its balance; below zero: the part that it returned."""
    entries = [debit(TRANSFER_FEES, added_minor), credit(GATEWAY_CASH, added_minor)]
    return _posting("transfer_fee", key, entries)


def restitution(payout_id: UUID, vendor_id: UUID, amount_minor: int, repaid_minor: int) -> Posting:
    """Return an unpaid payout to the wallet; `repaid_minor` of it repays debt."""
    source, key = in_transit(payout_id), f"restitution:{payout_id}"
    return _credit("restitution", key, source, vendor_id, amount_minor, repaid_minor)


def reversal(payout_id: UUID, vendor_id: UUID, amount_minor: int, repaid_minor: int) -> Posting:
    """Return a paid payout that the bank returned; `repaid_minor` of it repays debt."""
    return _credit("reversal", f"reversal:{payout_id}", GATEWAY_CASH, vendor_id, amount_minor, repaid_minor)


def recovery_returned(recovery_: Recovery, vendor_id: UUID, amount_minor: int, repaid_minor: int) -> Posting:
    """Return a recovery whose transfer the bank returned; `repaid_minor` of it repays debt."""
    key = f"recovery_returned:{recovery_}"
    return _credit("recovery_returned", key, GATEWAY_CASH, vendor_id, amount_minor, repaid_minor)


def recovery(recovery_: Recovery, vendor_id: UUID, amount_minor: int, shortfall_minor: int) -> Posting:
    """Debit an unrecorded transfer to its vendor; `shortfall_minor` becomes debt."""
    return _debit("recovery", f"recovery:{recovery_}", GATEWAY_CASH, vendor_id, amount_minor, shortfall_minor)


def recovery_of_hold(recovery_: Recovery, vendor_id: UUID, amount_minor: int) -> Posting:
    """Record a transfer as paid whose amount is held since the gateway reported it."""
    entries = [debit(held(vendor_id), amount_minor), credit(GATEWAY_CASH, amount_minor)]
    return _posting("recovery", f"recovery:{recovery_}", entries)


def transfer_hold(hold_id: UUID, vendor_id: UUID, amount_minor: int, shortfall_minor: int) -> Posting:
    """Hold money that may have been paid; `shortfall_minor` becomes debt."""
    return _debit(
        "transfer_hold", f"transfer_hold:{hold_id}", held(vendor_id), vendor_id, amount_minor, shortfall_minor
    )


def transfer_hold_released(hold_id: UUID, vendor_id: UUID, amount_minor: int, repaid_minor: int) -> Posting:
    """Return held money that was not paid; `repaid_minor` of it repays debt."""
    key = f"hold_released:{hold_id}"
    return _credit("hold_released", key, held(vendor_id), vendor_id, amount_minor, repaid_minor)


def _posting(type_: TransactionType, key: str, entries: list[Entry]) -> Posting:
    return balanced(key, type_, entries)


def _credit(
    type_: TransactionType, key: str, source: Account, vendor_id: UUID, amount_minor: int, repaid_minor: int
) -> Posting:
    """From `source` to the vendor: first the debt, the rest to the wallet."""
    repaid = credit(vendor_debt(vendor_id), repaid_minor)
    return _posting(
        type_, key, [debit(source, amount_minor), repaid, credit(wallet(vendor_id), amount_minor - repaid_minor)]
    )


def _debit(
    type_: TransactionType, key: str, target: Account, vendor_id: UUID, amount_minor: int, shortfall_minor: int = 0
) -> Posting:
    """From the wallet to `target`; what the wallet lacks becomes debt."""
    from_wallet = debit(wallet(vendor_id), amount_minor - shortfall_minor)
    return _posting(
        type_, key, [from_wallet, debit(vendor_debt(vendor_id), shortfall_minor), credit(target, amount_minor)]
    )
