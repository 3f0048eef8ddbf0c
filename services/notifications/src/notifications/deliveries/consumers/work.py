"""Work items of deliveries."""

from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import UnitOfWork
from common.messaging.messages import Received, WorkItem
from common.observability import telemetry
from common.observability.logging import get_logger
from notifications.deliveries.domain.channels import CHANNELS
from notifications.deliveries.domain.statuses import Status
from notifications.deliveries.store.alerts import save_page_failed
from notifications.deliveries.store.deliveries import make_due
from notifications.deliveries.store.queue import DELIVERIES_QUEUE, delivery_queue_of
from notifications.deliveries.use_cases.alerts.page_on_call import page_on_call
from notifications.deliveries.use_cases.deliveries.record_delivery_status import StatusReport, record_delivery_status
from notifications.dependencies import Dependencies

log: Final = get_logger(__name__)


class Receipt(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A delivery status with the provider's message id. `at` is ISO 8601, `error` the provider's reason of a
    failure.
    """

    channel: str
    provider_message_id: str
    status: Status
    at: str
    error: str = ""


class DeliveryJob(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One work item: an alert to page or to acknowledge, or a receipt to record; without any it wakes the dispatcher.

    `delivery_id` is set by processes of the release before, in which the work item was the delivery's place in the
    queue.
    """

    delivery_id: UUID | None = None
    alert_id: UUID | None = None
    is_acknowledgement: bool = False
    receipt: Receipt | None = None


async def run_delivery_job(job: DeliveryJob, received: Received, dependencies: Dependencies) -> None:
    """Wake, page or record. A transient failure is retried."""
    if job.delivery_id is not None:
        async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await make_due(uow, job.delivery_id, dependencies.clock.now())
    if job.alert_id is None and job.receipt is None:
        dependencies.dispatcher.wake()
    if job.alert_id is not None:
        await page_on_call(
            job.alert_id,
            dependencies.database,
            dependencies.on_call,
            dependencies.clock,
            is_acknowledgement=job.is_acknowledgement,
        )
    if job.receipt is not None:
        receipt, at = job.receipt, datetime.fromisoformat(job.receipt.at)
        async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            report = StatusReport(receipt.channel, receipt.provider_message_id, receipt.status, at, error=receipt.error)
            await record_delivery_status(uow, report)


async def fail_delivery_job(job: DeliveryJob, received: Received, uow: UnitOfWork, error: str) -> None:
    """Record the final failure. A failed page is only logged: an alert about it would fail too."""
    if job.alert_id is not None:
        log.error("page not delivered: the on-call receiver is unavailable", alert_id=str(job.alert_id), error=error)
        await save_page_failed(uow, job.alert_id, error)
    if job.receipt is not None:
        # Another system uses the same provider account.
        telemetry.STALE_EVENTS.labels("receipt").inc()


DELIVERIES_WORK: Final[list[WorkItem]] = [
    WorkItem(DELIVERIES_QUEUE, DeliveryJob, run_delivery_job, fail_delivery_job),
    *(WorkItem(delivery_queue_of(channel), DeliveryJob, run_delivery_job, fail_delivery_job) for channel in CHANNELS),
]
