"""Say what a signed transfer webhook said. Payouts judges it; here it changes nothing (contract section 8)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from common.clock import iso
from common.database import UnitOfWork
from contracts.payments import TransferFailed, TransferReversed, TransferSucceeded
from payments.domain.transfers import read_transfer

_EVENTS: Final[Mapping[str, type[TransferSucceeded | TransferFailed | TransferReversed]]] = {
    "transfer.success": TransferSucceeded,
    "transfer.failed": TransferFailed,
    "transfer.reversed": TransferReversed,
}


def announce_transfer(
    uow: UnitOfWork, webhook_id: str, event_type: str, told: Mapping[str, Any], arrived_at: datetime
) -> None:
    """Publishes the news; the time is the gateway's own, else that of the arrival. Raises NewsUnreadable."""
    news = read_transfer(event_type, told)
    uow.publish(
        _EVENTS[event_type](
            reference=news.reference,
            transfer_code=news.transfer_code,
            amount_minor=news.amount_minor,
            currency=news.currency,
            status=news.status,
            gateway_event_id=webhook_id,
            occurred_at=iso(news.occurred_at or arrived_at),
            reason=news.reason,
            account_last4=news.account_last4,
            bank_code=news.bank_code,
        )
    )
