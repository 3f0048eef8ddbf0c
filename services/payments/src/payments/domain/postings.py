"""The postings of the escrow ledger, one function for each row of the contract's table (section 7). Amounts in kobo."""

from collections.abc import Mapping
from uuid import UUID

from common.ledger.posting import Posting, credit, debit
from contracts.transaction_types import TransactionType
from payments.domain import accounts
from payments.domain.escrow import Parts
from payments.domain.settlements import Settlement, settlement_key
from payments.domain.transaction_types import transaction


def charge(
    identity: str,
    totals_minor: Mapping[UUID, int],
    refund_id: UUID,
    *,
    amount_minor: int,
    surplus_minor: int,
    surcharge_minor: int,
) -> Posting:
    """Return a settled charge: each order's total to its escrow, the surplus to its refund, the surcharge apart."""
    return transaction(
        f"charge:{identity}",
        "charge",
        [
            debit(accounts.gateway_cash(), amount_minor),
            *(credit(accounts.escrow(order_id), total_minor) for order_id, total_minor in totals_minor.items()),
            credit(accounts.refund_payable(refund_id), surplus_minor),
            credit(accounts.CHARGE_SURCHARGE, surcharge_minor),
        ],
    )


def overpayment(identity: str, refund_id: UUID, amount_minor: int) -> Posting:
    """Return a second valid charge of an order: all of it is refunded."""
    return transaction(
        f"overpayment:{identity}",
        "overpayment",
        [debit(accounts.gateway_cash(), amount_minor), credit(accounts.refund_payable(refund_id), amount_minor)],
    )


def quarantine(identity: str, reference: str, amount_minor: int, currency: str) -> Posting:
    """Return a charge that pays no order, in its own currency."""
    return transaction(
        f"quarantine:{identity}",
        "quarantine",
        [
            debit(accounts.gateway_cash(currency), amount_minor),
            credit(accounts.quarantine(reference, currency), amount_minor),
        ],
        currency,
    )


def release(release_id: UUID, order_id: UUID, vendor_id: UUID, parts: Parts) -> Posting:
    """Return a release of escrow: net to the vendor, commission and delivery fee to the platform."""
    return transaction(
        f"release:{release_id}",
        "release",
        [
            debit(accounts.escrow(order_id), parts.total_minor),
            credit(accounts.vendor_payable(vendor_id), parts.vendor_minor),
            credit(accounts.COMMISSION, parts.commission_minor),
            credit(accounts.DELIVERY_FEE, parts.delivery_fee_minor),
        ],
    )


def refund(refund_id: UUID, order_id: UUID, vendor_id: UUID, *, from_locked: Parts, from_released: Parts) -> Posting:
    """Return an order's refund: from escrow, and after a release from the receivers. The posting key is the refund's
    id.
    """
    return transaction(
        str(refund_id),
        "refund",
        [
            debit(accounts.escrow(order_id), from_locked.total_minor),
            debit(accounts.vendor_payable(vendor_id), from_released.vendor_minor),
            debit(accounts.COMMISSION, from_released.commission_minor),
            debit(accounts.DELIVERY_FEE, from_released.delivery_fee_minor),
            credit(accounts.refund_payable(refund_id), from_locked.total_minor + from_released.total_minor),
        ],
    )


def quarantine_release(
    identity: str,
    reference: str,
    currency: str,
    *,
    totals_minor: Mapping[UUID, int],
    refund_id: UUID,
    refund_minor: int,
) -> Posting:
    """Return an approved decision: the charge moves from quarantine to its orders' escrow, the rest to a refund."""
    entries = [
        debit(accounts.quarantine(reference, currency), sum(totals_minor.values()) + refund_minor),
        credit(accounts.refund_payable(refund_id), refund_minor),
        *(credit(accounts.escrow(order_id), total_minor) for order_id, total_minor in totals_minor.items()),
    ]
    return transaction(f"quarantine_release:{identity}", "quarantine_release", entries, currency)


def refund_settled(refund_id: UUID, attempt_id: UUID, amount_minor: int, currency: str) -> Posting:
    """Return a refund that the gateway paid out by this attempt."""
    return transaction(
        f"refund_settled:{attempt_id}",
        "refund_settled",
        [
            debit(accounts.refund_payable(refund_id), amount_minor),
            credit(accounts.gateway_cash(currency), amount_minor),
        ],
        currency,
    )


def refund_reversed(refund_id: UUID, attempt_id: UUID, amount_minor: int, currency: str) -> Posting:
    """Return a settled refund that the bank reversed: it is due again."""
    return transaction(
        f"refund_reversed:{attempt_id}",
        "refund_reversed",
        [
            debit(accounts.gateway_cash(currency), amount_minor),
            credit(accounts.refund_payable(refund_id), amount_minor),
        ],
        currency,
    )


def gateway_fee(identity: str, fee_minor: int, currency: str) -> Posting:
    """Return the gateway's fee of a charge, as reported with it."""
    return transaction(
        f"gateway_fee:{identity}",
        "gateway_fee",
        [debit(accounts.gateway_fees(currency), fee_minor), credit(accounts.gateway_cash(currency), fee_minor)],
        currency,
    )


def transfer_fee(key: str, added_minor: int) -> Posting:
    """Return the gateway's fee of a transfer that pays a refund; below zero: the part that it returned."""
    return transaction(
        key,
        "transfer_fee",
        [debit(accounts.TRANSFER_FEES, added_minor), credit(accounts.gateway_cash(), added_minor)],
    )


def settlement(settlement: Settlement) -> Posting:
    """Return a settlement of the gateway to our bank account, once."""
    currency, amount_minor = settlement.currency, settlement.amount_minor
    return transaction(
        settlement_key(settlement.id),
        "settlement",
        [debit(accounts.bank_account(currency), amount_minor), credit(accounts.gateway_cash(currency), amount_minor)],
        currency,
    )


def referral_reward(user_id: UUID, amount_minor: int) -> Posting:
    """Return a referral reward, once for each user."""
    return transaction(
        f"referral_reward:{user_id}",
        "referral_reward",
        [debit(accounts.REFERRAL_EXPENSE, amount_minor), credit(accounts.buyer_balance(user_id), amount_minor)],
    )


def balance_hold(intent_id: UUID, hold: int, user_id: UUID, amount_minor: int) -> Posting:
    """Return the `hold`-th hold of a balance for one payment."""
    return transaction(
        f"balance_hold:{intent_id}{_suffix(hold)}",
        "balance_hold",
        [debit(accounts.buyer_balance(user_id), amount_minor), credit(accounts.balance_held(intent_id), amount_minor)],
    )


def balance_returned(intent_id: UUID, hold: int, user_id: UUID, amount_minor: int) -> Posting:
    """Return the return of the `hold`-th hold, or of what its payment did not need."""
    return transaction(
        f"balance_returned:{intent_id}{_suffix(hold)}",
        "balance_returned",
        [debit(accounts.balance_held(intent_id), amount_minor), credit(accounts.buyer_balance(user_id), amount_minor)],
    )


def balance_spent(intent_id: UUID, amounts_minor: Mapping[UUID, int]) -> Posting:
    """Return the payment from a hold: each order's part to its escrow."""
    return transaction(
        f"balance_spent:{intent_id}",
        "balance_spent",
        [
            debit(accounts.balance_held(intent_id), sum(amounts_minor.values())),
            *(credit(accounts.escrow(order_id), amount_minor) for order_id, amount_minor in amounts_minor.items()),
        ],
    )


def balance_refund(refund_id: UUID, user_id: UUID, amount_minor: int) -> Posting:
    """Return the part of a refund that its buyer's balance receives."""
    return transaction(
        f"balance_refund:{refund_id}",
        "balance_refund",
        [
            debit(accounts.refund_payable(refund_id), amount_minor),
            credit(accounts.buyer_balance(user_id), amount_minor),
        ],
    )


def goodwill_refund(goodwill_id: UUID, user_id: UUID, amount_minor: int) -> Posting:
    """Return a goodwill refund, which the platform pays to the buyer's balance."""
    return transaction(
        f"goodwill_refund:{goodwill_id}",
        "goodwill_refund",
        [debit(accounts.GOODWILL_EXPENSE, amount_minor), credit(accounts.buyer_balance(user_id), amount_minor)],
    )


def balance_withdrawal(
    withdrawal_id: UUID, round_: int, user_id: UUID, *, from_balance_minor: int, loss_minor: int
) -> Posting:
    """Return the `round_`-th debit of a balance for one withdrawal; a later one is for money that was paid out after
    its return.
    """
    return transaction(
        f"balance_withdrawal:{withdrawal_id}{_suffix(round_)}",
        "balance_withdrawal",
        [
            debit(accounts.buyer_balance(user_id), from_balance_minor),
            debit(accounts.WITHDRAWAL_LOSS, loss_minor),
            credit(accounts.withdrawal_payable(withdrawal_id), from_balance_minor + loss_minor),
        ],
    )


def withdrawal_settled(withdrawal_id: UUID, round_: int, amount_minor: int) -> Posting:
    """Return a withdrawal that the gateway paid out."""
    return transaction(
        f"withdrawal_settled:{withdrawal_id}{_suffix(round_)}",
        "withdrawal_settled",
        [
            debit(accounts.withdrawal_payable(withdrawal_id), amount_minor),
            credit(accounts.gateway_cash(), amount_minor),
        ],
    )


def withdrawal_returned(
    withdrawal_id: UUID, round_: int, user_id: UUID, *, to_balance_minor: int, loss_minor: int, is_reversed: bool
) -> Posting:
    """Return the return of a withdrawal's money to the balance, after its payment when the bank reversed it."""
    type_: TransactionType = "withdrawal_reversed" if is_reversed else "withdrawal_returned"
    source = accounts.gateway_cash() if is_reversed else accounts.withdrawal_payable(withdrawal_id)
    return transaction(
        f"{type_}:{withdrawal_id}{_suffix(round_)}",
        type_,
        [
            debit(source, to_balance_minor + loss_minor),
            credit(accounts.buyer_balance(user_id), to_balance_minor),
            credit(accounts.WITHDRAWAL_LOSS, loss_minor),
        ],
    )


def _suffix(hold: int) -> str:
    return "" if hold == 1 else f":{hold}"


def reward_moved(user_id: UUID, amount_minor: int) -> Posting:
    """Return the move of a reward that an earlier version credited to an account of rewards alone."""
    return transaction(
        f"reward_moved:{user_id}",
        "reward_moved",
        [debit(accounts.buyer_reward(user_id), amount_minor), credit(accounts.buyer_balance(user_id), amount_minor)],
    )
