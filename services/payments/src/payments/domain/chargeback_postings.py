"""The postings of chargebacks (contract section 7): a loss, its reversal, and an offset refund. Minor units."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from common.ledger.posting import Account, Entry, Posting, credit, debit
from payments.domain import accounts
from payments.domain.chargebacks import ChargebackAllocation, UnsentRefund
from payments.domain.transaction_types import transaction


def loss_key(chargeback_id: UUID, loss: int) -> str:
    """Return the posting key of a chargeback's loss, the `loss`-th of a dispute that was decided several times."""
    return f"chargeback:{chargeback_id}{_suffix(loss)}"


def chargeback(
    chargeback_id: UUID,
    loss: int,
    order_id: UUID | None,
    vendor_id: UUID | None,
    currency: str,
    allocation: ChargebackAllocation,
) -> Posting:
    """Return a lost chargeback: debited to refunds, escrow and released money; the uncovered rest is a loss."""
    parts = _parts(order_id, vendor_id, currency, allocation)
    parts += _refunds(allocation.from_refunds)
    charged_back_minor = sum(amount_minor for _, amount_minor in parts)
    entries: list[Entry] = [debit(account, amount_minor) for account, amount_minor in parts]
    entries.append(credit(accounts.gateway_cash(currency), charged_back_minor))
    return transaction(loss_key(chargeback_id, loss), "chargeback", entries, currency)


def chargeback_won(
    chargeback_id: UUID,
    loss: int,
    order_id: UUID | None,
    vendor_id: UUID | None,
    currency: str,
    allocation: ChargebackAllocation,
    recreated: Sequence[UnsentRefund],
) -> Posting:
    """Return the reversal of a chargeback's loss: the money returns to its accounts, or is due to the payer again."""
    parts = _parts(order_id, vendor_id, currency, allocation)
    parts += _refunds(recreated)
    returned = sum(amount_minor for _, amount_minor in parts)
    entries: list[Entry] = [credit(account, amount_minor) for account, amount_minor in parts]
    entries.append(debit(accounts.gateway_cash(currency), returned))
    return transaction(f"chargeback_won:{chargeback_id}{_suffix(loss)}", "chargeback_won", entries, currency)


def refund_offset(chargeback_id: UUID, loss: int, refund_id: UUID, amount_minor: int, currency: str) -> Posting:
    """Return a refund that is not sent, because a lost chargeback has returned the money."""
    return transaction(
        f"refund_spared:{chargeback_id}:{refund_id}{_suffix(loss)}",
        "refund_spared",
        [
            debit(accounts.refund_payable(refund_id), amount_minor),
            credit(accounts.chargeback_loss(currency), amount_minor),
        ],
        currency,
    )


def outside_refund(
    part_id: UUID,
    refund_id: UUID,
    order_id: UUID | None,
    vendor_id: UUID | None,
    currency: str,
    allocation: ChargebackAllocation,
) -> Posting:
    """Return an order's part of a refund made outside: debited like a lost chargeback, due until the gateway has paid
    it.
    """
    parts = _parts(order_id, vendor_id, currency, allocation) + _refunds(allocation.from_refunds)
    entries: list[Entry] = [debit(account, amount_minor) for account, amount_minor in parts]
    entries.append(credit(accounts.refund_payable(refund_id), sum(amount_minor for _, amount_minor in parts)))
    return transaction(f"outside_refund:{part_id}", "outside_refund", entries, currency)


def outside_refund_returned(
    part_id: UUID,
    refund_id: UUID,
    order_id: UUID | None,
    vendor_id: UUID | None,
    currency: str,
    allocation: ChargebackAllocation,
    recreated: Sequence[UnsentRefund],
) -> Posting:
    """Return the reversal of an order's part of an outside refund that the gateway did not pay."""
    parts = _parts(order_id, vendor_id, currency, allocation) + _refunds(recreated)
    entries: list[Entry] = [credit(account, amount_minor) for account, amount_minor in parts]
    entries.append(debit(accounts.refund_payable(refund_id), sum(amount_minor for _, amount_minor in parts)))
    return transaction(f"outside_refund_returned:{part_id}", "outside_refund_returned", entries, currency)


def outside_refund_corrected(
    part_id: UUID, order_id: UUID, vendor_id: UUID, currency: str, allocation: ChargebackAllocation
) -> Posting:
    """Return an outside refund that was not the order's: the platform bears what the order bore."""
    parts = _parts(order_id, vendor_id, currency, replace(allocation, loss_minor=0))
    entries: list[Entry] = [credit(account, amount_minor) for account, amount_minor in parts]
    entries.append(debit(accounts.chargeback_loss(currency), sum(amount_minor for _, amount_minor in parts)))
    return transaction(f"outside_refund_corrected:{part_id}", "outside_refund_corrected", entries, currency)


def _suffix(loss: int) -> str:
    return "" if loss <= 1 else f":{loss}"


def _refunds(refunds: Sequence[UnsentRefund]) -> list[tuple[Account, int]]:
    return [(accounts.refund_payable(refund.id), refund.amount_minor) for refund in refunds]


def _parts(
    order_id: UUID | None, vendor_id: UUID | None, currency: str, allocation: ChargebackAllocation
) -> list[tuple[Account, int]]:
    parts = [(accounts.chargeback_loss(currency), allocation.loss_minor)]
    if order_id is not None and vendor_id is not None:
        parts += [
            (accounts.escrow(order_id), allocation.from_locked.total_minor),
            (accounts.vendor_payable(vendor_id), allocation.from_released.vendor_minor),
            (accounts.COMMISSION, allocation.from_released.commission_minor),
            (accounts.DELIVERY_FEE, allocation.from_released.delivery_fee_minor),
        ]
    return parts
