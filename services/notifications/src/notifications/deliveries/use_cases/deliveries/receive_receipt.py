"""Receive a delivery receipt of an SMS company."""

from datetime import datetime
from typing import Final

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from contracts.notifications import DeliverySettled
from notifications.deliveries.domain.errors import MessageUnknown
from notifications.deliveries.domain.sms_receipts import SmsReceipt
from notifications.deliveries.domain.statuses import LOST
from notifications.deliveries.store.statuses import enqueue_receipt, record_receipt_alone
from notifications.deliveries.use_cases.deliveries.record_delivery_status import StatusReport, record_delivery_status

CHANNEL: Final = "sms"


async def receive_receipt(database: Database, receipt: SmsReceipt, now: datetime) -> None:
    """Record the receipt. It may arrive before the message id is committed: then the worker records it, with
    retries. An arrival that no event publishes takes one statement.
    """
    message_id, status, error = receipt
    is_plain = status not in LOST and not database.is_published(DeliverySettled.TYPE)
    if is_plain and await record_receipt_alone(database, CHANNEL, message_id, status, now):
        return
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        try:
            await record_delivery_status(uow, StatusReport(CHANNEL, message_id, status, now, error=error))
        except MessageUnknown:
            enqueue_receipt(uow, CHANNEL, message_id, status, now, error)
