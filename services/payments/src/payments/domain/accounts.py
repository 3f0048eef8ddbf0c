"""The accounts of the escrow ledger (contract section 7): names, sides, and guards against a negative balance.

`domain/postings.py` has the rows of the contract's table. Money in another currency is on accounts with its code
(`gateway_cash:GHS`, `quarantine:<reference>:GHS`): an account has one currency. `domain/escrow.py` has the arithmetic
of partial releases and refunds. The lock of an order's `escrows` row serializes releases, refunds and freezes; its
check constraint enforces locked + released + refunded + charged back = held. The gateway's fee of a charge is posted
when the gateway reports one (`fees`, whole kobo within the charge): with the webhook, or later by a query or the
reconciliation (decision 41). The gateway's fee of a transfer that pays a refund is on `transfer_fees`, and in its
attempt's row (`transfer_fee_minor`): a success that reports it posts it, a query corrects it (decision 40).
"""

from typing import Final, Literal
from uuid import UUID

from common.ledger.posting import Account, Side

# Each account has one currency: other currencies than naira have their own accounts.
HOME_CURRENCY: Final = "NGN"
# ISO 4217's code for "no currency": for charges that name none.
NO_CURRENCY: Final = "XXX"

# The name of an account up to its colon.
AccountKind = Literal[
    "balance_held",
    "bank_account",
    "buyer_balance",
    "buyer_reward",
    "charge_surcharge",
    "chargeback_loss",
    "commission",
    "delivery_fee",
    "escrow",
    "gateway_cash",
    "gateway_fees",
    "goodwill_expense",
    "quarantine",
    "referral_expense",
    "refund_payable",
    "transfer_fees",
    "vendor_payable",
    "withdrawal_loss",
    "withdrawal_payable",
]


def _account(
    kind: AccountKind, side: Side, of: object = None, *, currency: str = HOME_CURRENCY, guarded: bool = False
) -> Account:
    """Return the account of a kind, `of` a thing or of the platform."""
    name = kind if of is None else f"{kind}:{of}"
    return Account(name if currency == HOME_CURRENCY else f"{name}:{currency}", side, guarded)


CHARGE_SURCHARGE: Final = _account("charge_surcharge", "credit")
COMMISSION: Final = _account("commission", "credit")
DELIVERY_FEE: Final = _account("delivery_fee", "credit")
TRANSFER_FEES: Final = _account("transfer_fees", "debit")
REFERRAL_EXPENSE: Final = _account("referral_expense", "debit")
GOODWILL_EXPENSE: Final = _account("goodwill_expense", "debit")
# What withdrawals paid after their money had been returned, and the balance no longer had. The platform bears it.
WITHDRAWAL_LOSS: Final = _account("withdrawal_loss", "debit")

_DEBIT_KINDS: Final[frozenset[AccountKind]] = frozenset(
    {
        "gateway_cash",
        "gateway_fees",
        "transfer_fees",
        "bank_account",
        "chargeback_loss",
        "goodwill_expense",
        "referral_expense",
        "withdrawal_loss",
    }
)


def gateway_cash(currency: str = HOME_CURRENCY) -> Account:
    """Our money at the payment gateway. Not guarded, because every charge changes it and would wait for its lock."""
    return _account("gateway_cash", "debit", currency=currency)


def gateway_fees(currency: str = HOME_CURRENCY) -> Account:
    """Return the fees of the gateway."""
    return _account("gateway_fees", "debit", currency=currency)


def bank_account(currency: str = HOME_CURRENCY) -> Account:
    """Return the platform's own bank account, to which the gateway settles."""
    return _account("bank_account", "debit", currency=currency)


def chargeback_loss(currency: str = HOME_CURRENCY) -> Account:
    """Return the uncovered losses of chargebacks, which the platform bears."""
    return _account("chargeback_loss", "debit", currency=currency)


def escrow(order_id: UUID) -> Account:
    """Return the escrow of one order."""
    return _account("escrow", "credit", order_id, guarded=True)


def refund_payable(refund_id: UUID) -> Account:
    """Return the amount of one refund that is due to its payer."""
    return _account("refund_payable", "credit", refund_id, guarded=True)


def quarantine(reference: str, currency: str = HOME_CURRENCY) -> Account:
    """Return a received charge that pays no order."""
    return _account("quarantine", "credit", reference, currency=currency, guarded=True)


def vendor_payable(vendor_id: UUID) -> Account:
    """Return the amount released to a vendor, equal to `escrow_released` in the payouts ledger."""
    return _account("vendor_payable", "credit", vendor_id, guarded=True)


def buyer_balance(user_id: UUID) -> Account:
    """Return the amount that is owed to a buyer: rewards, and refunds that the buyer left here."""
    return _account("buyer_balance", "credit", user_id, guarded=True)


def balance_held(intent_id: UUID) -> Account:
    """Return the part of a buyer's balance that is held for one payment."""
    return _account("balance_held", "credit", intent_id, guarded=True)


def withdrawal_payable(withdrawal_id: UUID) -> Account:
    """Return the amount of one withdrawal that is due to its buyer's bank account."""
    return _account("withdrawal_payable", "credit", withdrawal_id, guarded=True)


def buyer_reward(user_id: UUID) -> Account:
    """Return the rewards that earlier versions credited. `move_rewards` empties it; drop it in the next release."""
    return _account("buyer_reward", "credit", user_id)


def foreign_currency(currency: str) -> str | None:
    """Return the currency as an event names it: None for naira."""
    return None if currency == HOME_CURRENCY else currency


def side_of(name: str) -> Side:
    """Return the side of an account's normal balance, by its name."""
    return "debit" if name.partition(":")[0] in _DEBIT_KINDS else "credit"
