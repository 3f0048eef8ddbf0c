"""The postings of chargebacks (contract section 7): lost, won after all, and a refund that a lost one has spared. Minor units."""

from collections.abc import Sequence
from uuid import UUID

from common.ledger.posting import Account, Entry, Posting, balanced, credit, debit
from payments.domain import accounts
from payments.domain.chargebacks import ChargebackAllocation, UnsentRefund


def chargeback(
    chargeback_id: UUID, order_id: UUID | None, vendor_id: UUID | None, currency: str, take: ChargebackAllocation
) -> Posting:
    """A lost chargeback leaves the gateway: from what is owed, held, or was released; what nothing covers is a loss."""
    parts = _parts(order_id, vendor_id, currency, take)
    parts += [(accounts.refund_payable(refund.id), refund.amount_minor) for refund in take.from_refunds]
    taken = sum(amount_minor for _, amount_minor in parts)
    entries: list[Entry] = [debit(account, amount_minor) for account, amount_minor in parts]
    entries.append(credit(accounts.gateway_cash(currency), taken))
    return balanced(f"chargeback:{chargeback_id}", "chargeback", entries, currency)


def chargeback_won(
    chargeback_id: UUID,
    order_id: UUID | None,
    vendor_id: UUID | None,
    currency: str,
    take: ChargebackAllocation,
    owed_again: Sequence[UnsentRefund],
) -> Posting:
    """A lost chargeback that was won after all: the money is back where it was, or owed to the payer again."""
    parts = _parts(order_id, vendor_id, currency, take)
    parts += [(accounts.refund_payable(refund.id), refund.amount_minor) for refund in owed_again]
    returned = sum(amount_minor for _, amount_minor in parts)
    entries: list[Entry] = [credit(account, amount_minor) for account, amount_minor in parts]
    entries.append(debit(accounts.gateway_cash(currency), returned))
    return balanced(f"chargeback_won:{chargeback_id}", "chargeback_won", entries, currency)


def refund_offset(chargeback_id: UUID, refund_id: UUID, amount_minor: int, currency: str) -> Posting:
    """A refund that is not sent, because a lost chargeback has given the payer that money already."""
    return balanced(
        f"refund_spared:{chargeback_id}:{refund_id}",
        "refund_spared",
        [
            debit(accounts.refund_payable(refund_id), amount_minor),
            credit(accounts.chargeback_loss(currency), amount_minor),
        ],
        currency,
    )


def _parts(
    order_id: UUID | None, vendor_id: UUID | None, currency: str, take: ChargebackAllocation
) -> list[tuple[Account, int]]:
    parts = [(accounts.chargeback_loss(currency), take.loss_minor)]
    if order_id is not None and vendor_id is not None:
        parts += [
            (accounts.escrow(order_id), take.from_locked.total_minor),
            (accounts.vendor_payable(vendor_id), take.from_released.vendor_minor),
            (accounts.COMMISSION, take.from_released.commission_minor),
            (accounts.DELIVERY_FEE, take.from_released.delivery_fee_minor),
        ]
    return parts
