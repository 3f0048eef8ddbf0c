"""Publish a signed transfer webhook for payouts, which evaluates it (contract section 8)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from contracts.payments import TransferFailed, TransferReversed, TransferSucceeded
from payments.domain.transfers import TransferOutcome, TransferUpdate

_EVENTS: Final[Mapping[TransferOutcome, type[TransferSucceeded | TransferFailed | TransferReversed]]] = {
    "success": TransferSucceeded,
    "failed": TransferFailed,
    "reversed": TransferReversed,
}


def publish_transfer_update(uow: UnitOfWork, webhook_id: str, update: TransferUpdate, arrived_at: datetime) -> None:
    """Publish a decided transfer. The time is the gateway's, else that of the arrival."""
    uow.publish(
        _EVENTS[update.outcome](
            reference=update.reference,
            transfer_code=update.transfer_code,
            amount_minor=update.amount_minor,
            currency=update.currency,
            status=update.status,
            gateway_event_id=webhook_id,
            occurred_at=iso(update.occurred_at or arrived_at),
            reason=update.reason,
            account_last4=update.account_last4,
            bank_code=update.bank_code,
            fee_minor=update.fee_minor,
        )
    )
