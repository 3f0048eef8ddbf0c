"""Publish a signed transfer webhook for payouts, which evaluates it (contract section 8)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from contracts.payments import TransferFailed, TransferReversed, TransferSucceeded
from payments.domain.transfers import read_transfer

_EVENTS: Final[Mapping[str, type[TransferSucceeded | TransferFailed | TransferReversed]]] = {
    "transfer.success": TransferSucceeded,
    "transfer.failed": TransferFailed,
    "transfer.reversed": TransferReversed,
}


def publish_transfer_update(
    uow: UnitOfWork, webhook_id: str, event_type: str, data: Mapping[str, Any], arrived_at: datetime
) -> None:
    """The time is the gateway's, else that of the arrival. Raises MalformedEvent."""
    update = read_transfer(event_type, data)
    uow.publish(
        _EVENTS[event_type](
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
        )
    )
