"""The accounts of the escrow ledger (contract section 7): names, sides, and guards against a negative balance."""

from typing import Final
from uuid import UUID

from common.ledger.posting import Account, Side

# Each account has one currency: other currencies than naira have their own accounts.
HOME_CURRENCY: Final = "NGN"
# ISO 4217's code for "no currency": for charges that name none.
NO_CURRENCY: Final = "XXX"

CHARGE_SURCHARGE: Final = Account("charge_surcharge", "credit", guarded=False)
COMMISSION: Final = Account("commission", "credit", guarded=False)
DELIVERY_FEE: Final = Account("delivery_fee", "credit", guarded=False)
TRANSFER_FEES: Final = Account("transfer_fees", "debit", guarded=False)
REFERRAL_EXPENSE: Final = Account("referral_expense", "debit", guarded=False)

_DEBIT_NAMES: Final = frozenset(
    {"gateway_cash", "gateway_fees", "transfer_fees", "bank_account", "chargeback_loss", "referral_expense"}
)


def gateway_cash(currency: str = HOME_CURRENCY) -> Account:
    """Our money at the payment gateway. Not guarded, because every charge changes it and would wait for its lock."""
    return Account(_in_currency("gateway_cash", currency), "debit", guarded=False)


def gateway_fees(currency: str = HOME_CURRENCY) -> Account:
    """The fees of the gateway."""
    return Account(_in_currency("gateway_fees", currency), "debit", guarded=False)


def bank_account(currency: str = HOME_CURRENCY) -> Account:
    """The platform's own bank account, to which the gateway settles."""
    return Account(_in_currency("bank_account", currency), "debit", guarded=False)


def chargeback_loss(currency: str = HOME_CURRENCY) -> Account:
    """The uncovered losses of chargebacks, which the platform bears."""
    return Account(_in_currency("chargeback_loss", currency), "debit", guarded=False)


def escrow(order_id: UUID) -> Account:
    """The escrow of one order."""
    return Account(f"escrow:{order_id}", "credit", guarded=True)


def refund_payable(refund_id: UUID) -> Account:
    """The amount of one refund that is due to its payer."""
    return Account(f"refund_payable:{refund_id}", "credit", guarded=True)


def quarantine(reference: str, currency: str = HOME_CURRENCY) -> Account:
    """A received charge that pays no order."""
    return Account(_in_currency(f"quarantine:{reference}", currency), "credit", guarded=True)


def vendor_payable(vendor_id: UUID) -> Account:
    """The amount released to a vendor, equal to `escrow_released` in the payouts ledger."""
    return Account(f"vendor_payable:{vendor_id}", "credit", guarded=True)


def buyer_reward(user_id: UUID) -> Account:
    """Referral rewards of a user."""
    return Account(f"buyer_reward:{user_id}", "credit", guarded=False)


def foreign_currency(currency: str) -> str | None:
    """The currency as an event names it: None for naira."""
    return None if currency == HOME_CURRENCY else currency


def side_of(name: str) -> Side:
    """The side of an account's normal balance, by its name."""
    return "debit" if name.partition(":")[0] in _DEBIT_NAMES else "credit"


def _in_currency(name: str, currency: str) -> str:
    return name if currency == HOME_CURRENCY else f"{name}:{currency}"
