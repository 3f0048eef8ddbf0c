"""The accounts of the escrow ledger (contract section 7): names, sides, and which can never fall below zero."""

from typing import Final
from uuid import UUID

from common.ledger.posting import Account, Side

# Each account has one currency: what is not naira stands on accounts of its own.
HOME_CURRENCY: Final = "NGN"
# ISO 4217's code for "no currency": what does not name one stands under it.
NO_CURRENCY: Final = "XXX"

CHARGE_SURCHARGE: Final = Account("charge_surcharge", "credit", guarded=False)
COMMISSION: Final = Account("commission", "credit", guarded=False)
DELIVERY_FEE: Final = Account("delivery_fee", "credit", guarded=False)
REFERRAL_EXPENSE: Final = Account("referral_expense", "debit", guarded=False)

_DEBIT_NAMES: Final = frozenset({"gateway_cash", "gateway_fees", "chargeback_loss", "referral_expense"})


def gateway_cash(currency: str = HOME_CURRENCY) -> Account:
    """Our money at the payment gateway. Every charge touches it, so it is not guarded: no charge waits for another."""
    return Account(_in_currency("gateway_cash", currency), "debit", guarded=False)


def gateway_fees(currency: str = HOME_CURRENCY) -> Account:
    """What the gateway kept for itself."""
    return Account(_in_currency("gateway_fees", currency), "debit", guarded=False)


def chargeback_loss(currency: str = HOME_CURRENCY) -> Account:
    """What lost chargebacks took beyond what their orders still had: the platform bears it."""
    return Account(_in_currency("chargeback_loss", currency), "debit", guarded=False)


def escrow(order_id: UUID) -> Account:
    """What is held of one order."""
    return Account(f"escrow:{order_id}", "credit", guarded=True)


def refund_payable(refund_id: UUID) -> Account:
    """What is owed to a payer by one refund."""
    return Account(f"refund_payable:{refund_id}", "credit", guarded=True)


def quarantine(reference: str, currency: str = HOME_CURRENCY) -> Account:
    """Money that came under a reference and pays nothing as it stands."""
    return Account(_in_currency(f"quarantine:{reference}", currency), "credit", guarded=True)


def vendor_payable(vendor_id: UUID) -> Account:
    """What was released to a vendor, equal to `escrow_released` in the payouts book."""
    return Account(f"vendor_payable:{vendor_id}", "credit", guarded=True)


def buyer_reward(user_id: UUID) -> Account:
    """Referral rewards of a user."""
    return Account(f"buyer_reward:{user_id}", "credit", guarded=False)


def foreign_currency(currency: str) -> str | None:
    """The currency where it must be told; None for the naira, which is meant where none is."""
    return None if currency == HOME_CURRENCY else currency


def side_of(name: str) -> Side:
    """Where the balance of an account with this name normally stands."""
    return "debit" if name.split(":", 1)[0] in _DEBIT_NAMES else "credit"


def _in_currency(name: str, currency: str) -> str:
    return name if currency == HOME_CURRENCY else f"{name}:{currency}"
