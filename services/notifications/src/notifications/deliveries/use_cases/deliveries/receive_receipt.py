"""Receive a delivery receipt of an SMS company."""

from datetime import datetime
from typing import Final

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.domain.errors import MessageUnknown
from notifications.deliveries.domain.sms_receipts import SmsReceipt
from notifications.deliveries.store.statuses import enqueue_receipt
from notifications.deliveries.use_cases.deliveries.record_delivery_status import StatusReport, record_delivery_status

CHANNEL: Final = "sms"


async def receive_receipt(uow: UnitOfWork, receipt: SmsReceipt, now: datetime) -> None:
    """Record the receipt. It may arrive before the message id is committed: then the worker records it, with
    retries.
    """
    message_id, status, error = receipt
    try:
        await record_delivery_status(uow, StatusReport(CHANNEL, message_id, status, now, error=error))
    except MessageUnknown:
        enqueue_receipt(uow, CHANNEL, message_id, status, now, error)
